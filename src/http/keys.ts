import type { FastifyInstance } from 'fastify'
import { createKey, deleteKey, listKeys, rollKey } from '../access/keys.ts'
import type { Contract } from '../api/contract.ts'
import type { ApiKey } from '../core/api-key.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import type { Deps } from './deps.ts'
import { toPagination } from './route/pagination.ts'
import { route } from './route/route.ts'

const isoOrNull = (time: number | null) => (time === null ? null : toIso(time))

const toKey = ({ id, name, prefix, scopes, agentIds, expiresAt, lastUsedAt, createdAt, budget }: ApiKey) => ({
  id,
  name,
  prefix,
  scopes,
  agentIds,
  expiresAt: isoOrNull(expiresAt),
  lastUsedAt: isoOrNull(lastUsedAt),
  createdAt: toIso(createdAt),
  ...(budget === null ? {} : { budget }),
})

export function keyRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.createKey, async ({ body }) => {
    const { key, secret } = await createKey(deps, body)
    return { key: toKey(key), secret }
  })

  route(app, deps, contract.listKeys, async ({ query }) => {
    const { limit = pageLimit.default, cursor } = query
    const page = await listKeys(deps, { limit, ...(cursor === undefined ? {} : { cursor: cursor.toLowerCase() }) })
    return { keys: page.items.map(toKey), pagination: toPagination(page) }
  })

  route(app, deps, contract.getCurrentKey, async ({ key }) => ({ key: toKey(key) }))

  route(app, deps, contract.deleteKey, async ({ params }) => {
    await deleteKey(deps, params.keyId)
    return { message: 'The key was revoked.' }
  })

  route(app, deps, contract.rollKey, async ({ params, body }) => {
    const { key, secret } = await rollKey(deps, params.keyId, body.overlapSeconds ?? 86_400)
    return { key: toKey(key), secret }
  })
}
