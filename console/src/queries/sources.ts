import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { AddSourceInput, Source } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { isUnfinished, useForgetDocuments } from './documents.ts'
import { usePages } from './pages.ts'

export type { Source }

const PAGE = 50
const LOOK_EVERY_MS = 1_500

/** The web pages that an agent is synchronized with, newest first. Polls while one of them is being fetched. */
export function useSources(agentId: string) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.of(agentId, 'sources'),
    read: (cursor, signal) => client.sources.list({ agentId, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.sources,
    refetchInterval: ({ state: { data } }) =>
      data?.pages.some(({ sources }) => sources.some(isUnfinished)) ? LOOK_EVERY_MS : false,
  })
  return { ...query, sources: rows }
}

/** Invalidates the sources and the documents of an agent. */
function useForgetSources(agentId: string) {
  const queries = useQueryClient()
  const forgetDocuments = useForgetDocuments(agentId)
  return () => Promise.all([queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'sources') }), forgetDocuments()])
}

export function useAddSource(agentId: string) {
  const client = useClient()
  const forget = useForgetSources(agentId)
  return useMutation({
    mutationFn: async (source: Omit<AddSourceInput, 'agentId'>) => (await client.sources.add({ agentId, ...source })).source,
    onSuccess: forget,
  })
}

export function useRefreshSource(agentId: string) {
  const client = useClient()
  const forget = useForgetSources(agentId)
  return useMutation({
    mutationFn: async (sourceId: string) => (await client.sources.refresh({ agentId, sourceId })).source,
    onSuccess: forget,
  })
}

export function useDeleteSource(agentId: string) {
  const client = useClient()
  const forget = useForgetSources(agentId)
  return useMutation({
    mutationFn: (sourceId: string) => client.sources.delete({ agentId, sourceId }),
    onSuccess: forget,
  })
}
