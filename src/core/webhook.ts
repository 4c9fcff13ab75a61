/** What a webhook can be told of. */
export const webhookEvents = [
  'session.created',
  'session.deleted',
  'message.completed',
  'turn.failed',
  'document.ready',
  'document.failed',
] as const
export type WebhookEvent = (typeof webhookEvents)[number]

/** An event of no agent, which only a test makes. */
export const TEST_EVENT = 'webhook.test'

export interface Webhook {
  id: string
  url: string
  events: WebhookEvent[]
  /** Null: all. */
  agentIds: string[] | null
  /** `whsec_` and the key in base64, as Standard Webhooks writes it. */
  secret: string
  createdAt: number
  /** When the receiver said that it is gone. */
  disabledAt: number | null
}

/** What happened, by what it happened to. Texts are read when it is told. */
export interface Happened {
  event: WebhookEvent
  agentId: string
  /** The session that the event goes with when it is deleted; empty where there is none. */
  sessionId: string
  /** A reply, a failed message, a document; of a session the session itself. */
  target: string
}

export const deliveryStates = ['waiting', 'delivered', 'failed'] as const

/** One event and one webhook. */
export interface Delivery extends Omit<Happened, 'event'> {
  /** Of the event: the same for all that are told of it. In order of time. */
  id: string
  webhookId: string
  event: WebhookEvent | typeof TEST_EVENT
  state: (typeof deliveryStates)[number]
  attempts: number
  createdAt: number
  /** When it is tried next; null where it is not. */
  nextAt: number | null
  attemptedAt: number | null
  /** Of the last attempt; null where there was no answer. */
  responseStatus: number | null
  error: string | null
}
