import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useMemo } from 'react'
import {
  answerOf,
  type ImportSessionBody,
  type ListMessagesResponse,
  type Message,
  type MessageDetail,
  type Repartee,
  type Session,
  type SetFeedbackBody,
} from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type { ImportSessionBody, Message, MessageDetail, Session }

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
const LOOK_EVERY_MS = 2_000

const listKey = (agentId: string) => keyOf.of(agentId, 'sessions')
const oneKey = (agentId: string, sessionId: string, ...more: unknown[]) => keyOf.of(agentId, 'session', sessionId, ...more)

/** The conversations of an agent, last activity first, page by page. */
export function useSessions(agentId: string, filter: SessionFilter) {
  const client = useClient()
  const query = useInfiniteQuery({
    queryKey: [...listKey(agentId), 'list', filter],
    queryFn: ({ pageParam, signal }) =>
      client.sessions.list(
        agentId,
        { ...filter, limit: PAGE, ...(pageParam !== undefined && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination?.nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  })
  const sessions = useMemo(() => query.data?.pages.flatMap((page) => page.sessions) ?? [], [query.data])
  return { ...query, sessions, total: query.data?.pages.at(-1)?.pagination?.total }
}

/** The messages of a conversation, oldest first, page by page: it may hold a hundred thousand. */
export function useHistory(agentId: string, sessionId: string) {
  const client = useClient()
  const query = useInfiniteQuery({
    queryKey: oneKey(agentId, sessionId, 'messages'),
    queryFn: ({ pageParam, signal }) =>
      client.messages.list(
        agentId,
        sessionId,
        { limit: PAGE, ...(pageParam !== undefined && { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: ({ state }) =>
      ((state.data as InfiniteData<ListMessagesResponse> | undefined)?.pages.length ?? 0) <= FEW_PAGES ? 'always' : false,
  })
  const messages = useMemo(() => query.data?.pages.flatMap((page) => page.messages) ?? [], [query.data])
  return { ...query, messages, total: query.data?.pages.at(-1)?.pagination.total }
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

/** One message with its sources, its rating, and what became of its turn; looked at again while that runs. */
export function useMessage(agentId: string, sessionId: string, messageId: string, isWanted: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'message', messageId),
    queryFn: async ({ signal }) => (await client.messages.get(agentId, sessionId, messageId, undefined, { signal })).message,
    enabled: isWanted,
    refetchInterval: ({ state }) => (state.data?.turn === 'running' ? LOOK_EVERY_MS : false),
  })
}

/** How a reply came about, as far as that was kept. */
export function useOrigin(agentId: string, sessionId: string, messageId: string) {
  const client = useClient()
  const query = { include: 'model,usage,trace' }
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'origin', messageId),
    queryFn: async ({ signal }) => (await client.messages.get(agentId, sessionId, messageId, query, { signal })).message,
  })
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

/** What a reply said before it was made anew, oldest first. */
export function useVersions(agentId: string, sessionId: string, messageId: string, isWanted: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: oneKey(agentId, sessionId, 'versions', messageId),
    queryFn: async ({ signal }) => (await client.messages.versions(agentId, sessionId, messageId, { signal })).versions,
    enabled: isWanted,
  })
}

export function useRate(agentId: string, sessionId: string, messageId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (body: SetFeedbackBody) => (await client.messages.rate(agentId, sessionId, messageId, body)).feedback,
    onSuccess: (feedback) => {
      queries.setQueryData<MessageDetail>(oneKey(agentId, sessionId, 'message', messageId), (old) => old && { ...old, feedback })
      return queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'insights') })
    },
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
