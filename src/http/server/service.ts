import type { FastifyInstance } from 'fastify'
import type { Contract } from '../../api/contract.ts'
import { toOpenApi } from '../../api/openapi.ts'
import type { Deps } from '../deps.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered in every state of the service. */
    health?: boolean
  }
}

/** Set by whoever starts and stops the service. One that is leaving still serves, while load balancers take notice that it will not for long. */
export interface Health {
  state: 'starting' | 'ready' | 'leaving' | 'stopping'
}

interface ServiceOptions {
  deps: Pick<Deps, 'db'>
  contract: Contract
  health: Health
  publicUrl: string | undefined
}

/** What operators and tools ask, outside `/v1` and without a key. */
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

  // Bytes, which all answers share: callers without a key may leave theirs unread.
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
