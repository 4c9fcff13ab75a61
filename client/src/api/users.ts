import type { Connection } from '../connection.ts'
import { readLines } from '../lines.ts'
import { eachItem } from '../pages.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type { EraseUserResponse, ExportUserResponse, ListUsersQuery, ListUsersResponse, User } from '../types.ts'

/** A session, a message, an earlier version of a reply, or the summary that stands for old messages; `type` says which. */
export type ExportLine = ExportUserResponse & { [field: string]: unknown }

/** Lists end users, by their ids, a page at a time. */
export const list = (
  to: Connection,
  agentId: string,
  query?: ListUsersQuery,
  options?: RequestOptions,
): Promise<ListUsersResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/users`, query }, options)

/** All end users, by their ids. */
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

/** All that is kept of an end user, line by line, as it comes. It throws where it breaks off: then it was not all. */
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

/** Erases all that is kept of an end user, at once and for good. */
export const erase = (
  to: Connection,
  agentId: string,
  externalUserId: string,
  options?: RequestOptions,
): Promise<EraseUserResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}/users/${externalUserId}` }, options)
