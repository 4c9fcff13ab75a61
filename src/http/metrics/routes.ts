import type { FastifyInstance } from 'fastify'
import type { Deps } from '../deps.ts'
import { admit, checkScope, type Gate } from '../route/admit.ts'
import type { Metrics } from './metrics.ts'

const TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const gate: Gate = { scopes: ['admin'], isOfAgent: false }

/** Serves the metrics to Prometheus. They need a key, because they show how much the service does. */
export function metricsRoute(app: FastifyInstance, deps: Deps, metrics: Metrics): void {
  app.get('/metrics', {
    config: { isAdmitting: true },
    onRequest: async (request, reply) => checkScope(gate, await admit(app, deps, request, reply)),
    handler: async (_request, reply) => reply.type(TYPE).send(metrics.render()),
  })
}
