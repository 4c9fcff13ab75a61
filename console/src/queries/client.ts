import { notifyManager, QueryClient } from '@tanstack/react-query'

const FRESH_MS = 15_000

// A button is busy before the next press reaches it: a task later a quick second press would do the thing twice.
notifyManager.setScheduler(queueMicrotask)

/** The client of the service tries again by itself where that may help, so nothing is tried again here. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: FRESH_MS, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  })

/** Where answers are kept. What belongs to an agent lies below it, so that one word forgets all of it. */
export const keyOf = {
  agents: ['agents'],
  agentList: ['agents', 'list'],
  agent: (agentId: string) => ['agents', agentId],
  /** `of(agentId, 'documents', { status })` */
  of: (agentId: string, noun: string, ...more: unknown[]) => ['agents', agentId, noun, ...more],
  models: ['models'],
  health: ['health'],
  keys: ['keys'],
  keyUsage: (keyId: string) => ['keys', keyId, 'usage'],
  webhooks: ['webhooks'],
  deliveries: (webhookId: string) => ['webhooks', webhookId, 'deliveries'],
  audit: (filter: object) => ['audit', filter],
  metrics: ['metrics'],
} as const
