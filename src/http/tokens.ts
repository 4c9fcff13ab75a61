import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { toIso } from '../core/time.ts'
import type { Deps } from './deps.ts'
import { route } from './route/route.ts'

const TTL_SECONDS = 3_600

export function tokenRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.createToken, async ({ agent, key, body: { externalUserId, ttlSeconds = TTL_SECONDS } }) => {
    const until = deps.clock() + ttlSeconds * 1_000
    const expiresAt = Math.min(until, key.expiresAt ?? until)
    const claims = { keyId: key.id, agentId: agent.id, userId: externalUserId.toLowerCase(), expiresAt }
    return { token: deps.keys.makeToken(key, claims), expiresAt: toIso(expiresAt) }
  })
}
