import { notifyManager, QueryClient } from '@tanstack/react-query'

const FRESH_MS = 15_000

// With the default scheduler, a button becomes busy one task later. A quick second press would then run the action twice.
notifyManager.setScheduler(queueMicrotask)

/** Creates the query client. It never retries, because the client of the service retries where that may help. */
export const newQueryClient = () =>
  new QueryClient({
    defaultOptions: {
      queries: { retry: false, staleTime: FRESH_MS, networkMode: 'always' },
      mutations: { retry: false, networkMode: 'always' },
    },
  })

/** Query keys. The data of an agent is below the key of the agent, so that one call invalidates all of it. */
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
