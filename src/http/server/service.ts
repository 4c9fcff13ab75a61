import type { FastifyInstance } from 'fastify'
import type { Contract } from '../../api/contract.ts'
import { toOpenApi } from '../../api/openapi.ts'
import type { Deps } from '../deps.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers in every state of the service. */
    health?: boolean
  }
}

/** State of the service, set by the code that starts and stops it. In `leaving`, it still serves until load balancers notice that it will stop. */
export interface Health {
  state: 'starting' | 'ready' | 'leaving' | 'stopping'
}

interface ServiceOptions {
  deps: Pick<Deps, 'db'>
  contract: Contract
  health: Health
  publicUrl: string | undefined
}

/** Routes for operators and tools, outside `/v1` and without a key. */
export function serviceRoutes(app: FastifyInstance, { deps, contract, health, publicUrl }: ServiceOptions): void {
  app.get('/healthz', { config: { health: true } }, async () => ({ success: true, status: 'ok' }))

  app.get('/readyz', { config: { health: true } }, async (_request, reply) => {
    const ready = health.state === 'ready' && (await isReachable(deps))
    if (ready) return { success: true, status: 'ready' }
    reply.code(503).header('retry-after', '1')
    const error = {
      code: 'unavailable',
      message: `The service is ${health.state === 'ready' ? 'without its database' : health.state}.`,
      requestId: reply.request.id,
    }
    return { success: false, error }
  })

  // All responses share one buffer, because callers without a key may leave theirs unread.
  let document: Buffer | undefined
  app.get('/openapi.json', async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(toOpenApi(contract, publicUrl ?? '/v1')))
    reply.type('application/json; charset=utf-8')
    return document
  })
}

async function isReachable({ db }: ServiceOptions['deps']): Promise<boolean> {
  try {
    await db.read('SELECT 1 AS one', [])
    return true
  } catch {
    return false
  }
}
