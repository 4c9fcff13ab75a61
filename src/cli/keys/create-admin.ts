import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../config.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { newId } from '../../core/ids.ts'
import { type Answer, connectTo } from '../client.ts'
import { CommandError, exitCodes } from '../command.ts'
import { findService, noService } from '../service.ts'

type Issued = Pick<Answer<'createKey'>, 'key' | 'secret'>

/**
 * By the running service, else in the data folder of a stopped one: whoever may write there owns it.
 * A service that `REPARTEE_URL` names must answer; the file of one that crashed may lead nowhere.
 */
export async function createAdminKey(env: NodeJS.ProcessEnv, name: string): Promise<Issued> {
  const service = findService(env)
  if (service === undefined) return createInFolder(env, name)
  try {
    return await connectTo(service).call<'createKey'>('POST', '/keys', { body: { name, scopes: ['admin'] } })
  } catch (error) {
    if (service.urlFrom === 'REPARTEE_URL' || !(error instanceof CommandError) || error.exitCode !== exitCodes.unreachable)
      throw error
    return createInFolder(env, name)
  }
}

async function createInFolder(env: NodeJS.ProcessEnv, name: string): Promise<Issued> {
  const { data } = loadConfig(env)
  if (!existsSync(join(data, 'repartee.db'))) {
    throw noService(`and ${data} holds no data of a stopped one`)
  }
  const [{ createKey }, { lockFolder }, { SqliteDatabase }] = await Promise.all([
    import('../../chat/keys.ts'),
    import('../../store/lock.ts'),
    import('../../store/sqlite.ts'),
  ])
  const lock = takeFolder(data, lockFolder)
  try {
    const db = new SqliteDatabase(data)
    try {
      const { key, secret } = await createKey({ db, clock: Date.now, newId }, { name, scopes: ['admin'] })
      return { key: toKey(key), secret }
    } finally {
      await db.close()
    }
  } finally {
    lock.release()
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
