import { CommandError, exitCodes } from './command.ts'

/** Turns errors that the user can fix into messages for the user. */
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
