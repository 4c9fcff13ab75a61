import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { usageOfAgent, usageOfKey } from '../chat/budgets.ts'
import type { Deps } from '../chat/deps.ts'
import { route } from './route.ts'

export function usageRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.getAgentUsage, async ({ agent, query }) => ({
    usage: await usageOfAgent(deps, agent, query.externalUserId?.toLowerCase()),
  }))

  route(app, deps, contract.getKeyUsage, async ({ params }) => ({ usage: await usageOfKey(deps, params.keyId) }))
}
