import { randomBytes } from 'node:crypto'
import { invalid, ReparteeError, webhookNotFound } from '../core/errors.ts'
import { invalidCursor, type Page, type PageInput, toPage } from '../core/page.ts'
import type { Delivery, Webhook, WebhookEvent } from '../core/webhook.ts'
import { findAgent } from '../store/tables/agents.ts'
import { countDeliveries, findDelivery, insertTest, listDeliveries, redeliver } from '../store/tables/deliveries.ts'
import * as store from '../store/tables/webhooks.ts'
import type { EventDeps } from './deps.ts'

export interface NewWebhook {
  url: string
  events: WebhookEvent[]
  agentIds?: string[] | undefined
}

/** Limited because each event is written once per subscribed webhook. */
const MAX_WEBHOOKS = 100
/** Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32

export async function createWebhook(deps: EventDeps, { url, events, agentIds }: NewWebhook): Promise<Webhook> {
  const agents = agentIds && [...new Set(agentIds.map((id) => id.toLowerCase()))]
  for (const [i, id] of (agents ?? []).entries())
    if ((await findAgent(deps.db, id)) === undefined) throw invalid(`body.agentIds[${i}]`, 'names no agent')
  if ((await deps.webhooks.list()).length >= MAX_WEBHOOKS)
    throw invalid('body', `would be one webhook more than the ${MAX_WEBHOOKS} that there may be: delete one`)
  const webhook = {
    id: deps.newId(),
    url,
    events,
    agentIds: agents ?? null,
    secret: `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`,
    createdAt: deps.clock(),
    disabledAt: null,
  }
  await store.insertWebhook(deps.db, webhook)
  changed(deps)
  return webhook
}

/** Deletes a webhook with its waiting deliveries. */
export async function deleteWebhook(deps: EventDeps, webhookId: string): Promise<void> {
  const wasThere = await store.deleteWebhook(deps.db, webhookId)
  changed(deps)
  if (!wasThere) throw webhookNotFound()
}

/** Lists webhooks, newest first. */
export async function listWebhooks(deps: EventDeps, { limit, cursor }: PageInput): Promise<Page<Webhook>> {
  const all = await deps.webhooks.list()
  const start = cursor === undefined ? 0 : all.findIndex(({ id }) => id === cursor) + 1
  if (cursor !== undefined && start === 0) throw invalidCursor('a webhook')
  return toPage(all.slice(start, start + limit + 1), limit, all.length)
}

/** Sends a test event once, now. If it is delivered, a disabled webhook is enabled again. */
export async function testWebhook(deps: EventDeps, webhookId: string): Promise<Delivery> {
  const webhook = await getWebhook(deps, webhookId)
  const delivery = await deps.webhookWorker.attempt(webhook, (now, until) =>
    insertTest(deps.db, webhook.id, deps.newId(), now, until),
  )
  if (delivery.state === 'delivered' && webhook.disabledAt !== null) await setDisabled(deps, webhook.id, null)
  return delivery
}

/** Lists deliveries of a webhook, newest first. */
export async function listDeliveriesOf(
  deps: EventDeps,
  webhookId: string,
  { limit, cursor }: PageInput,
): Promise<Page<Delivery>> {
  const { id } = await getWebhook(deps, webhookId)
  if (cursor !== undefined && (await findDelivery(deps.db, id, cursor)) === undefined) throw invalidCursor('a delivery')
  const [items, total] = await Promise.all([listDeliveries(deps.db, id, cursor, limit + 1), countDeliveries(deps.db, id)])
  return toPage(items, limit, total)
}

/** Restarts a delivery with all its attempts, even if it was delivered. */
export async function retryDelivery(deps: EventDeps, webhookId: string, deliveryId: string): Promise<Delivery> {
  const { id } = await getWebhook(deps, webhookId)
  const delivery = await redeliver(deps.db, id, deliveryId, deps.clock())
  if (delivery === undefined) throw new ReparteeError('delivery_not_found', 'There is no such delivery.')
  deps.webhookWorker.wake()
  return delivery
}

export async function setDisabled(deps: Pick<EventDeps, 'db' | 'webhooks' | 'peers'>, id: string, at: number | null) {
  await store.setDisabled(deps.db, id, at)
  changed(deps)
}

async function getWebhook(deps: EventDeps, webhookId: string): Promise<Webhook> {
  const webhook = (await deps.webhooks.list()).find(({ id }) => id === webhookId)
  if (webhook === undefined) throw webhookNotFound()
  return webhook
}

function changed({ webhooks, peers }: Pick<EventDeps, 'webhooks' | 'peers'>): void {
  webhooks.forget()
  peers.announce({ changed: true })
}
