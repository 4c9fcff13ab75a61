import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import type { Deps } from './deps.ts'
import { route } from './route/route.ts'

export function modelRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.listModels, async () => ({ models: await deps.models.list() }))
}
