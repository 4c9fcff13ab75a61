import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { CitedSource, Feedback, FollowUp, MessageDetail, Trace, Usage, Version } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type { CitedSource, Feedback, FollowUp, MessageDetail, Trace, Usage, Version }

/** Location of a message, usually a reply. */
export interface MessagePlace {
  agentId: string
  sessionId: string
  messageId: string
}

const LOOK_EVERY_MS = 2_000

const messageKey = ({ agentId, sessionId, messageId }: MessagePlace, ...more: unknown[]) =>
  keyOf.of(agentId, 'session', sessionId, 'message', messageId, ...more)
/** A message has two cache entries: without and with its trace, which is large. */
const plain = (place: MessagePlace) => messageKey(place, 'plain')
const whole = (place: MessagePlace) => messageKey(place, 'whole')

/** A message with its sources, follow-ups, feedback and turn state. Polls while the turn runs. */
export function useMessage(place: MessagePlace, isWanted = true) {
  const client = useClient()
  const { agentId, sessionId, messageId } = place
  return useQuery({
    queryKey: plain(place),
    queryFn: async ({ signal }) => (await client.messages.get({ agentId, sessionId, messageId }, { signal })).message,
    enabled: isWanted,
    refetchInterval: ({ state }) => (state.data?.turn === 'running' ? LOOK_EVERY_MS : false),
  })
}

/** The same message with its model, usage and trace, as far as they are stored. */
export function useOrigin(place: MessagePlace, isWanted = true) {
  const client = useClient()
  const { agentId, sessionId, messageId } = place
  const query = { include: 'model,usage,trace' }
  return useQuery({
    queryKey: whole(place),
    queryFn: async ({ signal }) => (await client.messages.get({ agentId, sessionId, messageId, ...query }, { signal })).message,
    enabled: isWanted,
  })
}

/** Earlier versions of a regenerated reply, oldest first. `generation` changes when the reply is regenerated. */
export function useVersions(place: MessagePlace, isWanted: boolean, generation = 0) {
  const client = useClient()
  const { agentId, sessionId, messageId } = place
  return useQuery({
    queryKey: messageKey(place, 'versions', generation),
    queryFn: async ({ signal }) => (await client.messages.versions({ agentId, sessionId, messageId }, { signal })).versions,
    enabled: isWanted,
  })
}

/** Sends feedback on a reply. The requests run one after the other, so that the last one counts. */
export function useRate(place: MessagePlace) {
  const client = useClient()
  const queries = useQueryClient()
  const { agentId, sessionId, messageId } = place
  return useMutation({
    mutationFn: async (said: Feedback) => (await client.messages.rate({ agentId, sessionId, messageId, ...said })).feedback,
    scope: { id: messageKey(place).join(' ') },
    onSuccess: (feedback) => {
      for (const key of [plain(place), whole(place)])
        queries.setQueryData<MessageDetail>(key, (old) => old && { ...old, feedback })
      return queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'insights') })
    },
  })
}
