import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { AuditEntry, ListAuditQuery, ListAuditResponse } from '../types.ts'

/** Lists what was changed by those who run the service, newest first, a page at a time. */
export const list = (to: Connection, query?: ListAuditQuery, options?: RequestOptions): Promise<ListAuditResponse> =>
  request(to, { method: 'GET', path: path`/audit`, query }, options)

/** All that was changed by those who run the service, newest first. */
export const iterate = (to: Connection, query?: ListAuditQuery, options?: RequestOptions): AsyncGenerator<AuditEntry, void> =>
  eachItem(
    query,
    (page) => list(to, { ...query, ...page }, options),
    ({ entries }) => entries,
  )
