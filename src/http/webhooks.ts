import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import type { Delivery, Webhook } from '../core/webhook.ts'
import { createWebhook, deleteWebhook, listDeliveriesOf, listWebhooks, retryDelivery, testWebhook } from '../events/webhooks.ts'
import type { Deps } from './deps.ts'
import { pageUrl } from './route/page-url.ts'
import { toPagination } from './route/pagination.ts'
import { route } from './route/route.ts'

const isoOrNull = (time: number | null) => (time === null ? null : toIso(time))

const toWebhook = ({ id, url, events, agentIds, createdAt, disabledAt }: Webhook) => ({
  id,
  url,
  events,
  agentIds,
  createdAt: toIso(createdAt),
  disabledAt: isoOrNull(disabledAt),
})

const toDelivery = ({ id, event, agentId, state, attempts, responseStatus, error, ...d }: Delivery) => ({
  id,
  event,
  agentId: agentId === '' ? null : agentId,
  state,
  attempts,
  nextAttemptAt: isoOrNull(d.nextAt),
  lastAttemptAt: isoOrNull(d.attemptedAt),
  responseStatus,
  error,
  createdAt: toIso(d.createdAt),
})

const toPage = ({ limit = pageLimit.default, cursor }: { limit?: number | undefined; cursor?: string | undefined }) => ({
  limit,
  ...(cursor === undefined ? {} : { cursor: cursor.toLowerCase() }),
})

export function webhookRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.createWebhook, async ({ body }) => {
    const webhook = await createWebhook(deps, { ...body, url: pageUrl('body.url', body.url) })
    return { webhook: toWebhook(webhook), secret: webhook.secret }
  })

  route(app, deps, contract.listWebhooks, async ({ query }) => {
    const page = await listWebhooks(deps, toPage(query))
    return { webhooks: page.items.map(toWebhook), pagination: toPagination(page) }
  })

  route(app, deps, contract.deleteWebhook, async ({ params }) => {
    await deleteWebhook(deps, params.webhookId)
    return { message: 'The webhook was deleted.' }
  })

  route(app, deps, contract.testWebhook, async ({ params }) => ({
    delivery: toDelivery(await testWebhook(deps, params.webhookId)),
  }))

  route(app, deps, contract.listDeliveries, async ({ params, query }) => {
    const page = await listDeliveriesOf(deps, params.webhookId, toPage(query))
    return { deliveries: page.items.map(toDelivery), pagination: toPagination(page) }
  })

  route(app, deps, contract.retryDelivery, async ({ params }) => ({
    delivery: toDelivery(await retryDelivery(deps, params.webhookId, params.deliveryId)),
  }))
}
