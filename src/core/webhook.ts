/** The events that a webhook can subscribe to. */
export const webhookEvents = [
  'session.created',
  'session.deleted',
  'message.completed',
  'turn.failed',
  'document.ready',
  'document.failed',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** An event without an agent. Only a test sends it. */
export const TEST_EVENT = 'webhook.test'

export interface Webhook {
  id: string
  url: string
  events: WebhookEvent[]
  /** Null: all agents. */
  agentIds: string[] | null
  /** `whsec_` and the key in base64, as defined by Standard Webhooks. */
  secret: string
  createdAt: number
  /** When the receiver answered that it is gone. */
  disabledAt: number | null
}

/** An event without its texts, which are read when it is sent. */
export interface Happened {
  event: WebhookEvent
  agentId: string
  /** The session with which the event is deleted; empty if there is none. */
  sessionId: string
  /** The id of a reply, a failed message, a document or a session. */
  target: string
}

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

/** The delivery of one event to one webhook. */
export interface Delivery extends Omit<Happened, 'event'> {
  /** The id of the event, which is the same for all webhooks. Ids are in order of time. */
  id: string
  webhookId: string
  event: WebhookEvent | typeof TEST_EVENT
  state: (typeof deliveryStates)[number]
  attempts: number
  createdAt: number
  /** When the next attempt is due. Null if there is none. */
  nextAt: number | null
  attemptedAt: number | null
  /** The status of the last attempt. Null if there was no response. */
  responseStatus: number | null
  error: string | null
}
