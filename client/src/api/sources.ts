import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type PostOptions, path, type RequestOptions, request } from '../request.ts'
import type {
  AddSourceBody,
  AddSourceResponse,
  DeleteSourceResponse,
  GetSourceResponse,
  ListSourcesQuery,
  ListSourcesResponse,
  RefreshSourceResponse,
  Source,
} from '../types.ts'

/** Adds a source: web pages whose content the knowledge base follows. */
export const add = (to: Connection, agentId: string, body: AddSourceBody, options?: PostOptions): Promise<AddSourceResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/sources`, body }, options)

/** Lists sources, newest first, a page at a time. */
export const list = (
  to: Connection,
  agentId: string,
  query?: ListSourcesQuery,
  options?: RequestOptions,
): Promise<ListSourcesResponse> => request(to, { method: 'GET', path: path`/agents/${agentId}/sources`, query }, options)

/** All sources, newest first. */
export const iterate = (
  to: Connection,
  agentId: string,
  query?: ListSourcesQuery,
  options?: RequestOptions,
): AsyncGenerator<Source, void> =>
  eachItem(
    query,
    (page) => list(to, agentId, page, options),
    ({ sources }) => sources,
  )

/** Reads the state of a source. */
export const get = (to: Connection, agentId: string, sourceId: string, options?: RequestOptions): Promise<GetSourceResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/sources/${sourceId}` }, options)

/** Updates a source now. */
export const refresh = (
  to: Connection,
  agentId: string,
  sourceId: string,
  options?: PostOptions,
): Promise<RefreshSourceResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/sources/${sourceId}/refresh` }, options)

/** Deletes a source with its documents. */
const remove = (to: Connection, agentId: string, sourceId: string, options?: RequestOptions): Promise<DeleteSourceResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}/sources/${sourceId}` }, options)

export { remove as delete }
