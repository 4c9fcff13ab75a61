import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { newId } from '../../core/platform/ids.ts'
import type { Database } from '../../store/database.ts'
import { connectTo, type HttpAnswer } from '../client.ts'
import { CommandError, exitCodes } from '../command.ts'
import { findService, noService } from '../service.ts'

type Issued = Pick<HttpAnswer<'createKey'>, 'key' | 'secret'>

/**
 * Creates a key by the running service, else directly in the data folder or database. Anyone with write access there owns the data.
 * A service in `REPARTEE_URL` must answer. The file of a crashed service may be outdated.
 */
export async function createAdminKey(env: NodeJS.ProcessEnv, name: string): Promise<Issued> {
  const service = findService(env)
  if (service === undefined) return createInStore(env, name)
  try {
    return await connectTo(service).call<'createKey'>('POST', '/keys', { body: { name, scopes: ['admin'] } })
  } catch (error) {
    if (service.urlFrom === 'REPARTEE_URL' || !(error instanceof CommandError) || error.exitCode !== exitCodes.unreachable)
      throw error
    return createInStore(env, name)
  }
}

async function createInStore(env: NodeJS.ProcessEnv, name: string): Promise<Issued> {
  const { data, databaseUrl } = loadConfig(env)
  return databaseUrl === undefined ? createInFolder(data, name) : createInDatabase(databaseUrl, name)
}

async function createInFolder(data: string, name: string): Promise<Issued> {
  if (!existsSync(join(data, 'repartee.db'))) {
    throw noService(`nothing answers, and ${data} holds no data of a stopped one`)
  }
  const [{ lockFolder }, { SqliteDatabase }] = await Promise.all([
    import('../../store/sqlite/lock.ts'),
    import('../../store/sqlite/sqlite-database.ts'),
  ])
  const lock = takeFolder(data, lockFolder)
  try {
    return await createIn(new SqliteDatabase(data), name)
  } finally {
    lock.release()
  }
}

async function createInDatabase(url: string, name: string): Promise<Issued> {
  const { PostgresDatabase } = await import('../../store/postgres/postgres-database.ts')
  const db = await PostgresDatabase.open({ url, connections: 1 }).catch((cause: Error) => {
    throw new CommandError(`No service answers, and ${cause.message}`, exitCodes.unreachable, { cause })
  })
  return createIn(db, name)
}

async function createIn(db: Database, name: string): Promise<Issued> {
  const [{ createKey }, { auditLocal }] = await Promise.all([import('../../access/keys.ts'), import('../../access/audit.ts')])
  const deps = { db, clock: Date.now, newId }
  try {
    const { key, secret } = await createKey(deps, { name, scopes: ['admin'] })
    await auditLocal(deps, 'createKey', key.id)
    return { key: toKey(key), secret }
  } finally {
    await db.close()
  }
}

function takeFolder(data: string, lockFolder: (folder: string) => { release(): void }): { release(): void } {
  try {
    return lockFolder(data)
  } catch (cause) {
    throw new CommandError(
      `The data folder ${data} is in use by another process, and no service answers there. Stop that process, or wait until the service is ready, and try again.`,
      exitCodes.unreachable,
      { cause },
    )
  }
}

const toKey = ({ id, name, prefix, scopes, createdAt }: ApiKey): Issued['key'] => ({
  id,
  name,
  prefix,
  scopes,
  agentIds: null,
  expiresAt: null,
  lastUsedAt: null,
  createdAt: new Date(createdAt).toISOString(),
})
