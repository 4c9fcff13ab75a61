import type { WebhookEvent } from '../../queries/webhooks.ts'

/** What a webhook can be told of, what is wanted most first. */
export const EVENTS = [
  'message.completed',
  'turn.failed',
  'session.created',
  'session.deleted',
  'document.ready',
  'document.failed',
] as const satisfies readonly WebhookEvent[]
