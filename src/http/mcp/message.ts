import type { IncomingHttpHeaders } from 'node:http'

/** The revision whose requests are self-contained. */
export const CURRENT = '2026-07-28'
/** Revisions that begin with a handshake, newest first. */
export const WITH_HANDSHAKE = ['2025-11-25', '2025-06-18']
const SUPPORTED = [CURRENT, ...WITH_HANDSHAKE]

const META = 'io.modelcontextprotocol/'

/** JSON-RPC 2.0, and MCP 2026-07-28 (basic/index, Error Codes). */
const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
}

export type Json = Record<string, unknown>

/** A message that cannot be handled: an error of the protocol, not of a tool. */
export class ProtocolError extends Error {
  readonly code: number
  readonly status: number
  readonly data: Json | undefined

  constructor(kind: keyof typeof CODES, message: string, { status = 400, data }: { status?: number; data?: Json } = {}) {
    super(message)
    this.code = CODES[kind]
    this.status = status
    this.data = data
  }
}

/** One request or notification. A notification has no `id`. */
export interface McpMessage {
  id: string | number | undefined
  method: string
  params: Json
  meta: Json
  /** Whether it belongs to the current revision. */
  isCurrent: boolean
}

/** The answer contains the id. */
const MAX_ID_CHARS = 1_000

/** Returns the id of a request, even if the request is otherwise invalid. */
export const idOf = (body: unknown): string | number | undefined => {
  const id = isObject(body) ? body['id'] : undefined
  return (typeof id === 'string' && id.length <= MAX_ID_CHARS) || Number.isInteger(id) ? (id as string | number) : undefined
}

/** Reads a body and the headers that repeat its fields (MCP 2026-07-28, Streamable HTTP). Throws `ProtocolError`. */
export function readMessage(body: unknown, headers: IncomingHttpHeaders): McpMessage {
  if (Array.isArray(body)) throw new ProtocolError('invalidRequest', 'A request holds one message: batches are not taken.')
  if (!isObject(body) || body['jsonrpc'] !== '2.0' || typeof body['method'] !== 'string')
    throw new ProtocolError('invalidRequest', 'This is no request of JSON-RPC 2.0.')
  const { method, params = {} } = body
  const id = idOf(body)
  if ('id' in body && id === undefined)
    throw new ProtocolError('invalidRequest', `id must be a whole number, or a string of up to ${MAX_ID_CHARS} characters.`)
  if (!isObject(params)) throw new ProtocolError('invalidParams', 'params must be an object.')
  const meta = isObject(params['_meta']) ? params['_meta'] : {}
  const message = { id, method, params, meta, isCurrent: isCurrent(method, meta, headers['mcp-protocol-version']) }
  if (message.isCurrent && id !== undefined) checkHeaders(message, headers)
  return message
}

/** A version in the message means a revision without a handshake. Older clients name the negotiated version in the header, or nowhere. */
function isCurrent(method: string, meta: Json, header: string | string[] | undefined): boolean {
  const requested = meta[`${META}protocolVersion`]
  if (requested === undefined) {
    if (method === 'initialize' || header === undefined || WITH_HANDSHAKE.includes(String(header))) return false
    if (header !== CURRENT) throw unsupported(String(header))
    // The revision does not specify notifications.
    if (method.startsWith('notifications/')) return true
    throw new ProtocolError('invalidParams', `params._meta["${META}protocolVersion"] is missing.`)
  }
  if (header !== requested) throw new ProtocolError('headerMismatch', 'MCP-Protocol-Version is not what the message says.')
  if (requested !== CURRENT) throw unsupported(String(requested))
  return true
}

const unsupported = (requested: string) =>
  new ProtocolError('unsupportedVersion', 'Unsupported protocol version', { data: { supported: SUPPORTED, requested } })

function checkHeaders({ method, params, meta }: McpMessage, headers: IncomingHttpHeaders): void {
  if (!isObject(meta[`${META}clientCapabilities`]))
    throw new ProtocolError('invalidParams', `params._meta["${META}clientCapabilities"] is missing.`)
  if (headers['mcp-method'] !== method) throw new ProtocolError('headerMismatch', 'Mcp-Method is not the method of the message.')
  if (method === 'tools/call' && decode(headers['mcp-name']) !== params['name'])
    throw new ProtocolError('headerMismatch', 'Mcp-Name is not the name in the message.')
}

const ENCODED = /^=\?base64\?(.*)\?=$/

function decode(header: string | string[] | undefined): string | undefined {
  const text = ENCODED.exec(String(header))?.[1]
  return text === undefined ? header?.toString() : Buffer.from(text, 'base64').toString('utf8')
}

/** Returns a result with the fields that its revision requires. `cacheMs`: how long the client may cache it. */
export function toResult({ id, isCurrent }: McpMessage, result: Json, server: Json, cacheMs?: number): Json {
  const keeping = cacheMs === undefined ? {} : { ttlMs: cacheMs, cacheScope: 'private' }
  const current = { resultType: 'complete', ...result, ...keeping, _meta: { [`${META}serverInfo`]: server } }
  return { jsonrpc: '2.0', id, result: isCurrent ? current : result }
}

/** Returns an error. Without an id, it belongs to a message that could not be read. */
export const toError = (id: string | number | undefined, code: number, message: string, data?: Json): Json => ({
  jsonrpc: '2.0',
  ...(id === undefined ? {} : { id }),
  error: { code, message, ...(data === undefined ? {} : { data }) },
})

export const discovered = { supportedVersions: SUPPORTED, capabilities: { tools: {} } }

/** Returns the answer to a handshake: the requested version, or else the newest version that has a handshake. */
export const agreeOn = (requested: unknown): Json => ({
  protocolVersion: WITH_HANDSHAKE.find((version) => version === requested) ?? WITH_HANDSHAKE[0],
  capabilities: { tools: {} },
})

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
