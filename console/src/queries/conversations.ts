import { type InfiniteData, keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  answerOf,
  type ImportSessionInput,
  type ListMessagesResponse,
  type Message,
  type Repartee,
  type Session,
} from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { Message, Session }

/** A conversation from another system. */
export type ImportedConversation = Omit<ImportSessionInput, 'agentId'>

/** Selects the conversations that are listed. */
export interface SessionFilter {
  externalUserId?: string
  from?: string
  to?: string
  q?: string
}

const PAGE = 50
/** A history with more pages than this is not refetched automatically. */
const FEW_PAGES = 2

const listKey = (agentId: string) => keyOf.of(agentId, 'sessions')
const oneKey = (agentId: string, sessionId: string, ...more: unknown[]) => keyOf.of(agentId, 'session', sessionId, ...more)

/** The conversations of an agent, latest activity first, paginated. */
export function useSessions(agentId: string, filter: SessionFilter) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: [...listKey(agentId), 'list', filter],
    read: (cursor, signal) => client.sessions.list({ agentId, ...filter, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.sessions,
    placeholderData: keepPreviousData,
  })
  return { ...query, sessions: rows }
}

/** The messages of a conversation, oldest first, paginated: there may be a hundred thousand. */
export function useHistory(agentId: string, sessionId: string) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: oneKey(agentId, sessionId, 'messages'),
    read: (cursor, signal) => client.messages.list({ agentId, sessionId, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.messages,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: ({ state }) =>
      ((state.data as InfiniteData<ListMessagesResponse> | undefined)?.pages.length ?? 0) <= FEW_PAGES ? 'always' : false,
  })
  return { ...query, messages: rows }
}

export interface SessionHead {
  id: string
  name: string
  createdAt: string
}

/** Reads the session before its history. Stops reading the response there, because the history can be long. */
async function readHead(client: Repartee, agentId: string, sessionId: string, signal: AbortSignal): Promise<SessionHead> {
  const { baseUrl, credentials, fetch } = client.connection
  const headers = { accept: 'application/json', authorization: `Bearer ${await credentials.get()}` }
  const response = await fetch(`${baseUrl}/agents/${agentId}/sessions/${encodeURIComponent(sessionId)}`, { headers, signal })
  const whole = async () => (await client.sessions.get({ agentId, sessionId }, { signal })).session
  if (!response.ok || response.body === null) return whole()
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  for (let text = ''; ; ) {
    const { done, value } = await reader.read()
    if (done) return whole()
    text += value
    const end = text.indexOf(',"messages":[')
    if (end < 0) continue
    reader.cancel().catch(() => {})
    return (JSON.parse(`${text.slice(0, end)}}`) as { session: SessionHead }).session
  }
}

export function useSessionHead(agentId: string, sessionId: string) {
  const client = useClient()
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'head'),
    queryFn: ({ signal }) => readHead(client, agentId, sessionId, signal),
  })
}

/** The list entry of a conversation, with its user. No endpoint returns one entry: it is `atHand`, or in the list at its last message. */
export function useListed(
  agentId: string,
  sessionId: string,
  atHand: Session | undefined,
  lastMessageAt: string | undefined,
): Session | undefined {
  const client = useClient()
  const { data } = useQuery({
    queryKey: oneKey(agentId, sessionId, 'listed', lastMessageAt),
    queryFn: async ({ signal }) => {
      const to = new Date(Date.parse(lastMessageAt!) + 1).toISOString()
      const { sessions } = await client.sessions.list({ agentId, from: lastMessageAt, to, limit: 100 }, { signal })
      return sessions.find(({ id }) => id === sessionId) ?? null
    },
    enabled: atHand === undefined && lastMessageAt !== undefined,
  })
  return atHand ?? data ?? undefined
}

/** Returns how the turn of a question ended. Fails with the error of the turn if the turn failed. */
export function useOutcome(agentId: string, sessionId: string, questionId: string | undefined, isWanted: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'outcome', questionId),
    queryFn: ({ signal }) => answerOf(client.messages.resume({ agentId, sessionId, messageId: questionId! }, { signal })),
    enabled: isWanted && questionId !== undefined,
  })
}

export function useRenameSession(agentId: string, sessionId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (name: string) => (await client.sessions.update({ agentId, sessionId, name })).session,
    onSuccess: ({ name }) => {
      queries.setQueryData<SessionHead>(oneKey(agentId, sessionId, 'head'), (old) => old && { ...old, name })
      return queries.invalidateQueries({ queryKey: listKey(agentId) })
    },
  })
}

export function useDeleteSession(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (sessionId: string) => client.sessions.delete({ agentId, sessionId }),
    onSuccess: () => queries.invalidateQueries({ queryKey: listKey(agentId) }),
  })
}

export function useImportSession(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (conversation: ImportedConversation) =>
      (await client.sessions.import({ agentId, ...conversation })).session,
    onSuccess: () => queries.invalidateQueries({ queryKey: listKey(agentId) }),
  })
}

/** Refetches the history, e.g. after a running turn has ended. */
export function useRefreshHistory(agentId: string, sessionId: string) {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: oneKey(agentId, sessionId, 'messages') })
}
