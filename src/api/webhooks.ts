import { deliveryStates, TEST_EVENT, webhookEvents } from '../core/webhook.ts'
import { closed, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const orNull = <T extends ReturnType<typeof Timestamp>>(schema: T) => Type.Union([schema, Type.Null()])
const AgentIds = Type.Array(Uuid('An agent.'), { minItems: 1, maxItems: 1000, description: 'Left out: all agents.' })
const Events = Type.Array(Type.Enum([...webhookEvents]), { minItems: 1, maxItems: webhookEvents.length, uniqueItems: true })

const Webhook = Type.Object({
  id: Uuid('Webhook ID.'),
  url: Type.String(),
  events: Type.Array(Type.Enum([...webhookEvents])),
  agentIds: Type.Union([Type.Array(Uuid('An agent.')), Type.Null()], {
    description: 'The agents whose events it is told of; null for all.',
  }),
  createdAt: Timestamp('When it was made.'),
  disabledAt: orNull(Timestamp('When the receiver answered 410: it is told of nothing any more, until a test succeeds.')),
})
const Delivery = Type.Object({
  id: Uuid('ID of the event, the header `webhook-id` of every attempt.'),
  event: Type.Enum([...webhookEvents, TEST_EVENT]),
  agentId: Type.Union([Uuid('The agent.'), Type.Null()]),
  state: Type.Enum([...deliveryStates]),
  attempts: Type.Integer({ description: 'How often it was tried.' }),
  nextAttemptAt: orNull(Timestamp('When it is tried next.')),
  lastAttemptAt: orNull(Timestamp('When it was tried last.')),
  responseStatus: Type.Union([Type.Integer(), Type.Null()], {
    description: 'HTTP status of the last answer; null where there was none.',
  }),
  error: Type.Union([Type.String(), Type.Null()], { description: 'Why the last attempt failed.' }),
  createdAt: Timestamp('When it happened.'),
})
const WebhookPath = Type.Object({ webhookId: Uuid('The webhook.') }, closed)
const DeliveryPath = Type.Object({ webhookId: Uuid('The webhook.'), deliveryId: Uuid('The delivery.') }, closed)
const page = (what: string) =>
  Type.Object(
    { cursor: Type.Optional(Uuid(`ID of the ${what} after which the page starts.`)), limit: Type.Optional(Limit) },
    closed,
  )

export const webhookOperations = () => ({
  createWebhook: operation({
    id: 'createWebhook',
    method: 'POST',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'Have events sent to a URL',
    description:
      'Events are sent as Standard Webhooks describe: signed with the secret, at least once, tried again where the answer is not of 2xx.',
    isAudited: true,
    scopes: ['admin'],
    params: Nothing,
    query: Nothing,
    body: Type.Object(
      {
        url: Type.String({ minLength: 1, maxLength: 2000, description: 'Where they are sent: https, or http.' }),
        events: Events,
        agentIds: Type.Optional(AgentIds),
      },
      closed,
    ),
    keepsNoAnswer: true,
    status: 201,
    response: Type.Object({
      success: Success,
      webhook: Webhook,
      secret: Type.String({ description: 'What events are signed with. It is shown in this answer alone.' }),
    }),
  }),
  listWebhooks: operation({
    id: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    tag: 'Webhooks',
    summary: 'List webhooks, newest first',
    scopes: ['admin'],
    params: Nothing,
    query: page('webhook'),
    status: 200,
    response: Type.Object({ success: Success, webhooks: Type.Array(Webhook), pagination: Pagination }),
  }),
  deleteWebhook: operation({
    id: 'deleteWebhook',
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    tag: 'Webhooks',
    summary: 'Delete a webhook, with all that waits for it',
    isAudited: true,
    scopes: ['admin'],
    params: WebhookPath,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: Type.String() }),
  }),
  testWebhook: operation({
    id: 'testWebhook',
    method: 'POST',
    path: '/webhooks/{webhookId}/test',
    tag: 'Webhooks',
    summary: 'Send a test event, now and once',
    description: 'The answer says what the attempt came to.',
    isAudited: true,
    scopes: ['admin'],
    params: WebhookPath,
    query: Nothing,
    body: Type.Object({}, closed),
    status: 200,
    response: Type.Object({ success: Success, delivery: Delivery }),
  }),
  listDeliveries: operation({
    id: 'listDeliveries',
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries',
    tag: 'Webhooks',
    summary: 'List the deliveries of a webhook, newest first',
    scopes: ['admin'],
    params: WebhookPath,
    query: page('delivery'),
    status: 200,
    response: Type.Object({ success: Success, deliveries: Type.Array(Delivery), pagination: Pagination }),
  }),
  retryDelivery: operation({
    id: 'retryDelivery',
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/retry',
    tag: 'Webhooks',
    summary: 'Deliver an event again, whatever came of it before',
    isAudited: true,
    scopes: ['admin'],
    params: DeliveryPath,
    query: Nothing,
    body: Type.Object({}, closed),
    status: 202,
    response: Type.Object({ success: Success, delivery: Delivery }),
  }),
})
