import { mkdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { loadConfig } from '../config.ts'
import { type BackedUpFile, BackupError } from '../store/backup.ts'
import { type Command, CommandError, exitCodes, jsonOption, type Terminal } from './command.ts'
import { printJson } from './show.ts'

const IN_DATABASE = 'Conversations and documents are in PostgreSQL: back them up with its own tools, such as pg_dump.'

export const backup: Command = {
  name: 'backup',
  usage: '<folder>',
  about: 'Copy the data folder, whether or not the service runs, into a new folder.',
  takes: [1, 1],
  options: jsonOption,
  details: 'The folder must not be there, or be empty. It holds all conversations and documents: keep it as safe as the data.',
  async run(terminal, { positionals, values }) {
    const { backUp } = await import('../store/backup.ts')
    const { data } = folderOf(terminal)
    const target = resolve(positionals[0]!)
    const files = await told(() => backUp(resolve(data), target, (path) => terminal.status(`Copying ${path}`)))
    report(terminal, values, files, `Backed up to ${target}`)
    return exitCodes.ok
  },
}

export const restore: Command = {
  name: 'restore',
  usage: '<folder>',
  about: 'Put a backup into a data folder that holds nothing yet.',
  takes: [1, 1],
  options: jsonOption,
  details: 'REPARTEE_DATA names the data folder. Every file is compared with what was backed up before any is put there.',
  async run(terminal, { positionals, values }) {
    const [{ restore }, { lockFolder }, { KnowledgeFolder }] = await Promise.all([
      import('../store/backup.ts'),
      import('../store/lock.ts'),
      import('../store/knowledge-folder.ts'),
    ])
    const { data } = folderOf(terminal)
    const lock = await told(async () => {
      mkdirSync(data, { recursive: true, mode: 0o700 })
      return lockFolder(data)
    })
    try {
      const files = await told(() => restore(resolve(positionals[0]!), data, (path) => terminal.status(`Reading ${path}`)))
      // What was to be indexed when the backup was made may have lost its mark.
      for (const { path } of files)
        if (/^knowledge\/.+\.db$/.test(path)) new KnowledgeFolder(join(data, 'knowledge')).markPending(basename(path, '.db'))
      report(terminal, values, files, `Restored to ${resolve(data)}`)
      return exitCodes.ok
    } finally {
      lock.release()
    }
  },
}

function folderOf({ env }: Terminal): { data: string } {
  const { data, databaseUrl } = loadConfig(env)
  if (databaseUrl !== undefined) throw new CommandError(IN_DATABASE)
  return { data }
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const isTellable =
      error instanceof BackupError ||
      /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? '') ||
      /in use by/.test(String(error))
    if (!isTellable) throw error
    throw new CommandError(`${(error as Error).message}.`, exitCodes.failed, { cause: error })
  }
}

function report(terminal: Terminal, values: Record<string, unknown>, files: BackedUpFile[], what: string): void {
  terminal.status('')
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (values.json) printJson(terminal, { files, bytes })
  else terminal.out(`${what}: ${files.length} files, ${Math.ceil(bytes / 1_000)} kB`)
}
