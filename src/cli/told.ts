import { CommandError, exitCodes } from './command.ts'

/** What its user can put right is told in its own words. */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const [{ BackupError }, { MoveError }] = await Promise.all([
      import('../store/backup/backup.ts'),
      import('../store/backup/move/place.ts'),
    ])
    const isTellable =
      error instanceof BackupError ||
      error instanceof MoveError ||
      /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '') ||
      /in use by/.test(String(error))
    if (!isTellable) throw error
    throw new CommandError(`${(error as Error).message}.`, exitCodes.failed, { cause: error })
  }
}
