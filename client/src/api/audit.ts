import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { AuditEntry, ListAuditQuery, ListAuditResponse } from '../types.ts'

/** Lists the audit log: changes made by operators, newest first, one page at a time. */
export const list = (to: Connection, query?: ListAuditQuery, options?: RequestOptions): Promise<ListAuditResponse> =>
  request(to, { method: 'GET', path: path`/audit`, query }, options)

/** All entries of the audit log, newest first. */
export const iterate = (to: Connection, query?: ListAuditQuery, options?: RequestOptions): AsyncGenerator<AuditEntry, void> =>
  eachItem(
    query,
    (page) => list(to, { ...query, ...page }, options),
    ({ entries }) => entries,
  )
