import type { FastifyInstance } from 'fastify'
import { usageOfAgent, usageOfKey } from '../access/budgets.ts'
import type { Contract } from '../api/contract.ts'
import type { Deps } from './deps.ts'
import { route } from './route/route.ts'

export function usageRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.getAgentUsage, async ({ agent, query }) => ({
    usage: await usageOfAgent(deps, agent, query.externalUserId?.toLowerCase()),
  }))

  route(app, deps, contract.getKeyUsage, async ({ params }) => ({ usage: await usageOfKey(deps, params.keyId) }))
}
