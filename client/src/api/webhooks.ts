import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type PostOptions, path, type RequestOptions, request } from '../request.ts'
import type {
  CreateWebhookBody,
  CreateWebhookResponse,
  DeleteWebhookResponse,
  Delivery,
  ListDeliveriesQuery,
  ListDeliveriesResponse,
  ListWebhooksQuery,
  ListWebhooksResponse,
  RetryDeliveryResponse,
  TestWebhookResponse,
  Webhook,
} from '../types.ts'

/** Creates a webhook that sends events to a URL. Only this response contains the signing secret. */
export const create = (to: Connection, body: CreateWebhookBody, options?: RequestOptions): Promise<CreateWebhookResponse> =>
  request(to, { method: 'POST', path: path`/webhooks`, body, keepsNoAnswer: true }, options)

/** Lists webhooks, newest first, a page at a time. */
export const list = (to: Connection, query?: ListWebhooksQuery, options?: RequestOptions): Promise<ListWebhooksResponse> =>
  request(to, { method: 'GET', path: path`/webhooks`, query }, options)

/** All webhooks, newest first. */
export const iterate = (to: Connection, query?: ListWebhooksQuery, options?: RequestOptions): AsyncGenerator<Webhook, void> =>
  eachItem(
    query,
    (page) => list(to, page, options),
    ({ webhooks }) => webhooks,
  )

/** Sends a test event once, immediately, and resolves to the result. */
export const test = (to: Connection, webhookId: string, options?: PostOptions): Promise<TestWebhookResponse> =>
  request(to, { method: 'POST', path: path`/webhooks/${webhookId}/test`, body: {} }, options)

/** Lists the deliveries of a webhook, newest first, a page at a time. */
export const listDeliveries = (
  to: Connection,
  webhookId: string,
  query?: ListDeliveriesQuery,
  options?: RequestOptions,
): Promise<ListDeliveriesResponse> =>
  request(to, { method: 'GET', path: path`/webhooks/${webhookId}/deliveries`, query }, options)

/** All deliveries of a webhook, newest first. */
export const iterateDeliveries = (
  to: Connection,
  webhookId: string,
  query?: ListDeliveriesQuery,
  options?: RequestOptions,
): AsyncGenerator<Delivery, void> =>
  eachItem(
    query,
    (page) => listDeliveries(to, webhookId, page, options),
    ({ deliveries }) => deliveries,
  )

/** Delivers an event again, regardless of the earlier result. */
export const retryDelivery = (
  to: Connection,
  webhookId: string,
  deliveryId: string,
  options?: PostOptions,
): Promise<RetryDeliveryResponse> =>
  request(to, { method: 'POST', path: path`/webhooks/${webhookId}/deliveries/${deliveryId}/retry`, body: {} }, options)

/** Deletes a webhook and its pending deliveries. */
const remove = (to: Connection, webhookId: string, options?: RequestOptions): Promise<DeleteWebhookResponse> =>
  request(to, { method: 'DELETE', path: path`/webhooks/${webhookId}` }, options)

export { remove as delete }
