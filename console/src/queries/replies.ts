import { useMutation, useQuery } from '@tanstack/react-query'
import type { CitedSource, Feedback, FollowUp, Trace, Usage, Version } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type { CitedSource, Feedback, FollowUp, Trace, Usage, Version }

/** Where a reply stands. */
export interface ReplyPlace {
  agentId: string
  sessionId: string
  messageId: string
}

/** What is kept of a reply: its sources, its follow-ups, what was said of it, and how it came about. */
export function useKeptReply({ agentId, sessionId, messageId }: ReplyPlace, enabled: boolean) {
  const client = useClient()
  const query = { include: 'model,usage,trace' }
  return useQuery({
    queryKey: keyOf.of(agentId, 'sessions', sessionId, 'messages', messageId),
    queryFn: async ({ signal }) => (await client.messages.get(agentId, sessionId, messageId, query, { signal })).message,
    enabled,
  })
}

/** What a reply said before it was made anew, oldest first. `made` counts how often that was. */
export function useVersions({ agentId, sessionId, messageId }: ReplyPlace, made: number, enabled: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'sessions', sessionId, 'versions', messageId, made),
    queryFn: async ({ signal }) => (await client.messages.versions(agentId, sessionId, messageId, { signal })).versions,
    enabled,
  })
}

/** Says what a user thinks of a reply. */
export function useRate({ agentId, sessionId, messageId }: ReplyPlace) {
  const client = useClient()
  return useMutation({
    mutationFn: async (feedback: Feedback) => (await client.messages.rate(agentId, sessionId, messageId, feedback)).feedback,
  })
}
