import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { lockFolder } from '../../store/sqlite/lock.ts'
import { quickCheck } from '../../store/sqlite/quick-check.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const NAME = 'store'

/** Checks all database files of a stopped data folder. */
export function checkStore({ data }: Config, isRunning: boolean): Finding[] {
  if (!existsSync(join(data, 'repartee.db'))) return [ok(NAME, 'no data yet')]
  if (isRunning) return [ok(NAME, 'in use by the running service; stop it to have the files checked')]
  let lock: { release(): void }
  try {
    lock = lockFolder(data)
  } catch {
    return [
      warn(NAME, `${data} is in use by a process that does not answer`, 'If it is not starting just now, stop it and try again.'),
    ]
  }
  try {
    const files = readdirSync(data, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.db'))
    const broken = files.flatMap((file) => checkFile(join(data, file)))
    return broken.length > 0 ? broken : [ok(NAME, files.length === 1 ? 'sound (1 file)' : `sound (${files.length} files)`)]
  } finally {
    lock.release()
  }
}

export async function checkDatabase(url: string): Promise<Finding[]> {
  const { checkPostgres } = await import('../../store/postgres/check.ts')
  const found = await checkPostgres(url)
  if ('reason' in found) {
    return [
      fail(
        NAME,
        `the PostgreSQL database cannot be used: ${found.reason}`,
        'Look at REPARTEE_DATABASE_URL, and whether the server runs.',
      ),
    ]
  }
  const { server, schema, noPgvector } = found
  return [
    ok(NAME, `PostgreSQL ${server}, ${schema === 0 ? 'no data yet' : `schema ${schema}`}`),
    ok('vectors', noPgvector === undefined ? 'large bases are searched by pgvector' : `searched in memory: ${noPgvector}`),
  ]
}

function checkFile(path: string): Finding[] {
  const damage = quickCheck(path)
  return damage === undefined
    ? []
    : [fail(NAME, `${path} is damaged: ${damage}`, 'Restore it from a backup, and keep the broken file aside.')]
}
