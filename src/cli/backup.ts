import { mkdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { loadConfig } from '../config/config.ts'
import type { BackedUpFile } from '../store/backup/backup.ts'
import type { ReportProgress } from '../store/progress.ts'
import { type Command, exitCodes, jsonOption, type Terminal } from './command.ts'
import { Progress } from './progress.ts'
import { printJson } from './show.ts'
import { told } from './told.ts'

export const backup: Command = {
  name: 'backup',
  usage: '<folder>',
  about: 'Copy all data, whether or not the service runs, into a new folder.',
  takes: [1, 1],
  options: jsonOption,
  details: `The folder must not be there, or be empty. It holds all conversations and documents: keep it as safe as the data.
It is the same whether the data was in a folder or in PostgreSQL, and can be restored to either.`,
  async run(terminal, { positionals, values }) {
    const { backUp, backUpDatabase } = await import('../store/backup/backup.ts')
    const { data, databaseUrl } = loadConfig(terminal.env)
    const target = resolve(positionals[0]!)
    const tell = teller(terminal)
    const files = await told(() =>
      databaseUrl === undefined ? backUp(resolve(data), target, tell) : backUpDatabase(databaseUrl, target, tell),
    )
    report(terminal, values, files, `Backed up to ${target}`)
    return exitCodes.ok
  },
}

export const restore: Command = {
  name: 'restore',
  usage: '<folder>',
  about: 'Put a backup into a data folder, or a database, that holds nothing yet.',
  takes: [1, 1],
  options: jsonOption,
  details:
    'REPARTEE_DATA names the data folder, or REPARTEE_DATABASE_URL the database. Every file is compared with what was backed up before any is put there.',
  async run(terminal, { positionals, values }) {
    const { restoreDatabase } = await import('../store/backup/backup.ts')
    const { data, databaseUrl } = loadConfig(terminal.env)
    const source = resolve(positionals[0]!)
    const files =
      databaseUrl === undefined
        ? await restoreFolder(terminal, source, data)
        : await told(() => restoreDatabase(source, databaseUrl, teller(terminal)))
    report(terminal, values, files, `Restored to ${databaseUrl === undefined ? resolve(data) : 'the database'}`)
    return exitCodes.ok
  },
}

async function restoreFolder(terminal: Terminal, source: string, data: string): Promise<BackedUpFile[]> {
  const [{ restore }, { lockFolder }, { KnowledgeFolder }] = await Promise.all([
    import('../store/backup/backup.ts'),
    import('../store/sqlite/lock.ts'),
    import('../store/knowledge/folder.ts'),
  ])
  const lock = await told(async () => {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    return lockFolder(data)
  })
  try {
    const files = await told(() => restore(source, data, teller(terminal)))
    // Marks every base as pending, because the marks of documents that were still to be indexed may be missing in the backup.
    for (const { path } of files)
      if (/^knowledge\/.+\.db$/.test(path)) new KnowledgeFolder(join(data, 'knowledge')).markPending(basename(path, '.db'))
    return files
  } finally {
    lock.release()
  }
}

function teller(terminal: Terminal): ReportProgress {
  const progress = new Progress(terminal)
  return (what, done, of) => progress.show(what, done, of)
}

function report(terminal: Terminal, values: Record<string, unknown>, files: BackedUpFile[], what: string): void {
  terminal.status('')
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (values.json) printJson(terminal, { files, bytes })
  else terminal.out(`${what}: ${files.length} files, ${Math.ceil(bytes / 1_000)} kB`)
}
