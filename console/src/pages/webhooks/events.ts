import type { WebhookEvent } from '../../queries/webhooks.ts'

/** All webhook event types, most useful first. */
export const EVENTS = [
  'message.completed',
  'turn.failed',
  'session.created',
  'session.deleted',
  'document.ready',
  'document.failed',
] as const satisfies readonly WebhookEvent[]
