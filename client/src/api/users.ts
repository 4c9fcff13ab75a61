import type { Connection } from '../connection.ts'
import { readLines } from '../lines.ts'
import { eachItem } from '../pages.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { EraseUserResponse, ExportUserResponse, ListUsersQuery, ListUsersResponse, User } from '../types.ts'

/** A session, a message, an earlier version of a reply, or the summary of old messages. `type` says which. */
export type ExportLine = ExportUserResponse & { [field: string]: unknown }

/** Lists end users, ordered by id, one page at a time. */
export const list = (
  to: Connection,
  agentId: string,
  query?: ListUsersQuery,
  options?: RequestOptions,
): Promise<ListUsersResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/users`, query }, options)

/** All end users, ordered by id. */
export const iterate = (
  to: Connection,
  agentId: string,
  query?: ListUsersQuery,
  options?: RequestOptions,
): AsyncGenerator<User, void> =>
  eachItem(
    query,
    (page) => list(to, agentId, page, options),
    ({ users }) => users,
  )

/** Yields all data stored about an end user, line by line. Throws if the response breaks off, because the export is then incomplete. */
const exportLines = (
  to: Connection,
  agentId: string,
  externalUserId: string,
  options: RequestOptions = {},
): AsyncGenerator<ExportLine, void> =>
  readLines(
    () => request(to, { method: 'GET', path: path`/agents/${agentId}/users/${externalUserId}/export` }, options, async (r) => r),
    options.signal,
  )

export { exportLines as export }

/** Erases all data stored about an end user, immediately and permanently. */
export const erase = (
  to: Connection,
  agentId: string,
  externalUserId: string,
  options?: RequestOptions,
): Promise<EraseUserResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}/users/${externalUserId}` }, options)
