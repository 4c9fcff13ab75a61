import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type PostOptions, path, type RequestOptions, request } from '../request.ts'
import type {
  CreateSessionBody,
  CreateSessionResponse,
  DeleteSessionResponse,
  GetSessionResponse,
  ImportSessionBody,
  ImportSessionResponse,
  ListSessionsQuery,
  ListSessionsResponse,
  Session,
  UpdateSessionBody,
  UpdateSessionResponse,
} from '../types.ts'

/** Creates a session. */
export const create = (
  to: Connection,
  agentId: string,
  body: CreateSessionBody = {},
  options?: PostOptions,
): Promise<CreateSessionResponse> => request(to, { method: 'POST', path: path`/agents/${agentId}/sessions`, body }, options)

/** Lists sessions, most recent activity first. Without `limit` it returns all; with `limit`, one page and `pagination`. */
export const list = (
  to: Connection,
  agentId: string,
  query?: ListSessionsQuery,
  options?: RequestOptions,
): Promise<ListSessionsResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/sessions`, query }, options)

/** All sessions, most recent activity first, fetched page by page. */
export const iterate = (
  to: Connection,
  agentId: string,
  query?: ListSessionsQuery,
  options?: RequestOptions,
): AsyncGenerator<Session, void> =>
  eachItem(
    query,
    (page) => list(to, agentId, { ...query, ...page }, options),
    ({ sessions }) => sessions,
  )

/** Reads a session with its whole history. */
export const get = (to: Connection, agentId: string, sessionId: string, options?: RequestOptions): Promise<GetSessionResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/sessions/${sessionId}` }, options)

/** Renames a session. */
export const update = (
  to: Connection,
  agentId: string,
  sessionId: string,
  body: UpdateSessionBody,
  options?: RequestOptions,
): Promise<UpdateSessionResponse> =>
  request(to, { method: 'PATCH', path: path`/agents/${agentId}/sessions/${sessionId}`, body }, options)

/** Deletes a session and all its messages permanently. */
const remove = (to: Connection, agentId: string, sessionId: string, options?: RequestOptions): Promise<DeleteSessionResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}/sessions/${sessionId}` }, options)

export { remove as delete }

/** Imports a conversation from another system. */
const bringIn = (
  to: Connection,
  agentId: string,
  body: ImportSessionBody,
  options?: PostOptions,
): Promise<ImportSessionResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/sessions/import`, body }, options)

export { bringIn as import }
