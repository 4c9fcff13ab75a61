import { type InfiniteData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { Agent, AgentWithStats, CreateAgentInput, ListAgentsResponse, UpdateAgentInput } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { Agent, AgentWithStats, CreateAgentInput }

/** The fields of an agent to change. */
export type AgentChanges = Omit<UpdateAgentInput, 'agentId'>

const PAGE = 100
/** Number of search results to show; the search stops reading pages at this number. */
const ENOUGH = 20

/** All agents that the key can see, newest first, paginated. */
export function useAgents() {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.agentList,
    read: (cursor, signal) => client.agents.list({ limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.agents,
  })
  return { ...query, agents: rows }
}

const fits = ({ name, id }: Agent, words: string[]) => {
  const text = `${name} ${id}`.toLocaleLowerCase()
  return words.every((word) => text.includes(word))
}

/** Finds agents by words of their name, or by id. The service has no agent search, so pages are read until there are enough results. */
export function useAgentSearch(text: string) {
  const { agents, total, hasNextPage, isFetchingNextPage, fetchNextPage, isPending, isError } = useAgents()
  const words = useMemo(() => text.toLocaleLowerCase().split(/\s+/).filter(Boolean), [text])
  const found = useMemo(() => agents.filter((agent) => fits(agent, words)), [agents, words])
  const wantsMore = words.length > 0 && found.length < ENOUGH && hasNextPage && !isError
  useEffect(() => {
    if (wantsMore && !isFetchingNextPage) void fetchNextPage()
  }, [wantsMore, isFetchingNextPage, fetchNextPage])
  return { found: found.slice(0, words.length === 0 ? PAGE : ENOUGH), total, isLoading: isPending || wantsMore }
}

export function useAgent(agentId: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.agent(agentId ?? ''),
    queryFn: async ({ signal }) => (await client.agents.get({ agentId: agentId! }, { signal })).agent,
    enabled: agentId !== undefined,
  })
}

/** Returns the name of an agent as soon as any cached response contains it. */
export function useAgentName(agentId: string | undefined): string | undefined {
  const queries = useQueryClient()
  const { data } = useAgent(agentId)
  if (data !== undefined || agentId === undefined) return data?.name
  const list = queries.getQueryData<InfiniteData<ListAgentsResponse>>(keyOf.agentList)
  return list?.pages.flatMap((page) => page.agents).find(({ id }) => id === agentId)?.name
}

export function useCreateAgent() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (input: CreateAgentInput) => (await client.agents.create(input)).agent,
    onSuccess: () => queries.invalidateQueries({ queryKey: keyOf.agentList }),
  })
}

export function useUpdateAgent(agentId: string) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async (changes: AgentChanges) => (await client.agents.update({ agentId, ...changes })).agent,
    onSuccess: (agent) => {
      queries.setQueryData<AgentWithStats>(keyOf.agent(agentId), (old) => (old === undefined ? undefined : { ...old, ...agent }))
      return queries.invalidateQueries({ queryKey: keyOf.agentList })
    },
  })
}

export function useDeleteAgent() {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (agentId: string) => client.agents.delete({ agentId }),
    onSuccess: (_, agentId) => {
      // The page that shows the agent is left before it could fetch the deleted agent again.
      queries.removeQueries({ queryKey: keyOf.agent(agentId), type: 'inactive' })
      return queries.invalidateQueries({ queryKey: keyOf.agentList })
    },
  })
}

/** Several agents with their counts, in the order in which they load. */
export function useAgentsWithStats(agentIds: readonly string[]) {
  const client = useClient()
  return useQueries({
    queries: agentIds.map((agentId) => ({
      queryKey: keyOf.agent(agentId),
      queryFn: async ({ signal }: { signal: AbortSignal }) => (await client.agents.get({ agentId }, { signal })).agent,
    })),
    combine: (answers) => ({
      isPending: answers.some(({ isPending }) => isPending),
      error: answers.find(({ error }) => error !== null)?.error ?? null,
      refetch: () => void Promise.all(answers.map(({ refetch }) => refetch())),
      agents: answers.flatMap(({ data }) => (data === undefined ? [] : [data])),
    }),
  })
}

/** Names of agents by id, as far as they are loaded. Reads the list until all ids are found; deleted agents have no name. */
export function useAgentNames(agentIds: readonly string[]): ReadonlyMap<string, string> {
  const { agents, hasNextPage, isFetching, isError, fetchNextPage } = useAgents()
  const names = useMemo(() => new Map(agents.map(({ id, name }) => [id, name])), [agents])
  const wantsMore = hasNextPage && !isFetching && !isError && agentIds.some((id) => !names.has(id))
  useEffect(() => {
    // Every row of a table calls this: they share one request.
    if (wantsMore) void fetchNextPage({ cancelRefetch: false })
  }, [wantsMore, fetchNextPage])
  return names
}
