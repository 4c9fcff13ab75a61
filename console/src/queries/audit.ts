import type { AuditEntry, ListAuditInput } from 'repartee-client'
import { useClient } from '../session/session.tsx'
import { keyOf } from './client.ts'
import { usePages } from './pages.ts'

export type { AuditEntry }
export type AuditFilter = Pick<ListAuditInput, 'from' | 'to' | 'agentId'>

const PAGE = 50

/** The audit log, newest entry first, paginated. */
export function useAudit(filter: AuditFilter) {
  const client = useClient()
  const { rows, ...query } = usePages({
    queryKey: keyOf.audit(filter),
    read: (cursor, signal) => client.audit.list({ ...filter, limit: PAGE, cursor }, { signal }),
    rowsOf: (page) => page.entries,
  })
  return { ...query, entries: rows }
}
