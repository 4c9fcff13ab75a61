import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { path, type RequestOptions, request } from '../request.ts'
import type {
  CreateKeyBody,
  CreateKeyResponse,
  DeleteKeyResponse,
  GetCurrentKeyResponse,
  GetKeyUsageResponse,
  Key,
  ListKeysQuery,
  ListKeysResponse,
  RollKeyBody,
  RollKeyResponse,
} from '../types.ts'

/** Creates an API key. Only this response contains its secret. */
export const create = (to: Connection, body: CreateKeyBody, options?: RequestOptions): Promise<CreateKeyResponse> =>
  request(to, { method: 'POST', path: path`/keys`, body, keepsNoAnswer: true }, options)

/** Lists keys, newest first, a page at a time. */
export const list = (to: Connection, query?: ListKeysQuery, options?: RequestOptions): Promise<ListKeysResponse> =>
  request(to, { method: 'GET', path: path`/keys`, query }, options)

/** Reads the key that this client uses. */
export const current = (to: Connection, options?: RequestOptions): Promise<GetCurrentKeyResponse> =>
  request(to, { method: 'GET', path: path`/keys/current` }, options)

/** All keys, newest first. */
export const iterate = (to: Connection, query?: ListKeysQuery, options?: RequestOptions): AsyncGenerator<Key, void> =>
  eachItem(
    query,
    (page) => list(to, page, options),
    ({ keys }) => keys,
  )

/** Replaces a key with a new one that has the same rights. The old key works until the overlap ends. */
export const roll = (to: Connection, keyId: string, body: RollKeyBody = {}, options?: RequestOptions): Promise<RollKeyResponse> =>
  request(to, { method: 'POST', path: path`/keys/${keyId}/roll`, body, keepsNoAnswer: true }, options)

/** Reads how much of its daily budget a key has used. */
export const usage = (to: Connection, keyId: string, options?: RequestOptions): Promise<GetKeyUsageResponse> =>
  request(to, { method: 'GET', path: path`/keys/${keyId}/usage` }, options)

/** Revokes a key immediately. */
const remove = (to: Connection, keyId: string, options?: RequestOptions): Promise<DeleteKeyResponse> =>
  request(to, { method: 'DELETE', path: path`/keys/${keyId}` }, options)

export { remove as delete }
