import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { AuditEntry, ListAuditQuery } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type { AuditEntry }
export type AuditFilter = Pick<ListAuditQuery, 'from' | 'to' | 'agentId'>

const PAGE = 50

/** What was done by those who run the service, newest first, page by page. */
export function useAudit(filter: AuditFilter) {
  const client = useClient()
  const query = useInfiniteQuery({
    queryKey: keyOf.audit(filter),
    queryFn: ({ pageParam, signal }) => client.audit.list({ ...filter, limit: PAGE, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ pagination }) => pagination.nextCursor ?? undefined,
  })
  const entries = useMemo(() => query.data?.pages.flatMap((page) => page.entries) ?? [], [query.data])
  return { ...query, entries, total: query.data?.pages.at(-1)?.pagination.total }
}
