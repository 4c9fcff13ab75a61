import { type InfiniteData, keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  answerOf,
  type ImportSessionBody,
  type ListMessagesResponse,
  type Message,
  type Repartee,
  type Session,
} from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { ImportSessionBody, Message, Session }

/** Which conversations are listed. */
export interface SessionFilter {
  externalUserId?: string
  from?: string
  to?: string
  q?: string
}

const PAGE = 50
/** A history of more pages than this is not read anew by itself. */
const FEW_PAGES = 2

const listKey = (agentId: string) => keyOf.of(agentId, 'sessions')
const oneKey = (agentId: string, sessionId: string, ...more: unknown[]) => keyOf.of(agentId, 'session', sessionId, ...more)

/** The conversations of an agent, last activity first, page by page. */
export function useSessions(agentId: string, filter: SessionFilter) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: [...listKey(agentId), 'list', filter],
    read: (cursor, signal) => client.sessions.list(agentId, { ...filter, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.sessions,
    placeholderData: keepPreviousData,
  })
  return { ...query, sessions: rows }
}

/** The messages of a conversation, oldest first, page by page: it may hold a hundred thousand. */
export function useHistory(agentId: string, sessionId: string) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: oneKey(agentId, sessionId, 'messages'),
    read: (cursor, signal) => client.messages.list(agentId, sessionId, { limit: PAGE, cursor }, { signal }),
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

/** The name of a conversation. It comes before the whole history, of which nothing more is read. */
async function readHead(client: Repartee, agentId: string, sessionId: string, signal: AbortSignal): Promise<SessionHead> {
  const { baseUrl, credentials, fetch } = client.connection
  const headers = { accept: 'application/json', authorization: `Bearer ${await credentials.get()}` }
  const response = await fetch(`${baseUrl}/agents/${agentId}/sessions/${encodeURIComponent(sessionId)}`, { headers, signal })
  const whole = async () => (await client.sessions.get(agentId, sessionId, { signal })).session
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

/**
 * A conversation as lists have it, with its user. There is no request for one alone: it is in a list that is at hand, or else found by the
 * time of its last message, once that is known.
 */
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
      const { sessions } = await client.sessions.list(agentId, { from: lastMessageAt, to, limit: 100 }, { signal })
      return sessions.find(({ id }) => id === sessionId) ?? null
    },
    enabled: atHand === undefined && lastMessageAt !== undefined,
  })
  return atHand ?? data ?? undefined
}

/** How the turn of a question ended. Where it failed, that is the error. */
export function useOutcome(agentId: string, sessionId: string, questionId: string | undefined, isWanted: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'outcome', questionId),
    queryFn: ({ signal }) => answerOf(client.messages.resume(agentId, sessionId, questionId!, { signal })),
    enabled: isWanted && questionId !== undefined,
  })
}

export function useRenameSession(agentId: string, sessionId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (name: string) => (await client.sessions.update(agentId, sessionId, { name })).session,
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
    mutationFn: (sessionId: string) => client.sessions.delete(agentId, sessionId),
    onSuccess: () => queries.invalidateQueries({ queryKey: listKey(agentId) }),
  })
}

export function useImportSession(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (body: ImportSessionBody) => (await client.sessions.import(agentId, body)).session,
    onSuccess: () => queries.invalidateQueries({ queryKey: listKey(agentId) }),
  })
}

/** Reads the history anew, e.g. when a turn that ran has come to its end. */
export function useRefreshHistory(agentId: string, sessionId: string) {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: oneKey(agentId, sessionId, 'messages') })
}
