import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { CreateWebhookInput, Delivery, Webhook, WebhookEvent } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { CreateWebhookInput, Delivery, Webhook, WebhookEvent }

/** The maximum number of webhooks of a service, so one page contains all of them. */
const ALL = 100
const PAGE = 30
const LOOK_EVERY_MS = 2_000

/** All webhooks, newest first. Needs the scope `admin`. */
export function useWebhooks() {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.webhooks,
    read: (cursor, signal) => client.webhooks.list({ limit: ALL, cursor }, { signal }),
    rowsOf: (page) => page.webhooks,
  })
  return { ...query, webhooks: rows }
}

/** The deliveries of a webhook, newest first, paginated. Polls while a delivery is pending. */
export function useDeliveries(webhookId: string) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.deliveries(webhookId),
    read: (cursor, signal) => client.webhooks.listDeliveries({ webhookId, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.deliveries,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ deliveries }) => deliveries.some(({ state }) => state === 'waiting')) ? LOOK_EVERY_MS : false,
  })
  return { ...query, deliveries: rows }
}

export function useCreateWebhook() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: CreateWebhookInput) => client.webhooks.create(input),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.webhooks, exact: true }),
    // The response contains the secret: it is dropped when the dialog that shows it closes.
    gcTime: 0,
  })
}

/** Sends a test event. The result may disable or enable the webhook. */
export function useTestWebhook() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (webhookId: string) => (await client.webhooks.test({ webhookId })).delivery,
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf.webhooks }),
  })
}

export function useRetryDelivery(webhookId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (deliveryId: string) => (await client.webhooks.retryDelivery({ webhookId, deliveryId })).delivery,
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.deliveries(webhookId) }),
  })
}

export function useDeleteWebhook() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (webhookId: string) => client.webhooks.delete({ webhookId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.webhooks, exact: true }),
  })
}
