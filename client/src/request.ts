import { deadline, orAborted, pause } from './cancel.ts'
import type { Connection } from './connection.ts'
import { fromResponse, ReparteeError } from './errors.ts'
import { uuid } from './uuid.ts'

export interface RequestOptions {
  /** Stops the call. A turn goes on at the service nevertheless: `messages.cancel` stops that. */
  signal?: AbortSignal | undefined
  /** Instead of that of the connection. */
  timeoutMs?: number | undefined
  /** Instead of that of the connection. */
  maxRetries?: number | undefined
}

/** Of a call that makes or does something. */
export interface PostOptions extends RequestOptions {
  /** The same for every try of one request, which then has one effect, also across restarts of the caller. Made by the client unless given. */
  idempotencyKey?: string | undefined
}

/** A request of the contract. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the base URL. */
  path: () => string
  query?: object | undefined
  /** Sent as JSON, but for forms. */
  body?: object | undefined
  headers?: Record<string, string>
  /** Of a POST whose answer holds a secret: the service takes no Idempotency-Key, so a lost answer stays lost. */
  keepsNoAnswer?: boolean
  /** Of one try: no word for so long means that the line is dead. */
  silenceMs?: number
}

type Init = RequestInit & { headers: Record<string, string> }

/** What is done with an answer that is a success. */
type Read<T> = (response: Response) => Promise<T>

/** Makes a request, again where that is safe and may help, and resolves to what its answer holds. Throws a ReparteeError. */
export async function request<T>(
  connection: Connection,
  call: Call,
  options: PostOptions = {},
  read: Read<T> = readJson as Read<T>,
): Promise<T> {
  const { timeoutMs = connection.timeoutMs, maxRetries = connection.maxRetries, signal } = options
  const init = toInit(call, options.idempotencyKey)
  const tooLate = () => new ReparteeError('timeout', `There was no answer within ${timeoutMs} ms.`)
  const whole = deadline(timeoutMs, tooLate, signal)
  const isSafe = call.method !== 'POST' || !call.keepsNoAnswer
  try {
    for (let tries = 0; ; ) {
      try {
        return await tryOnce(connection, call, init, whole.signal, read)
      } catch (thrown) {
        const error = toError(thrown, whole.signal)
        if (!mayHelp(error, isSafe)) throw error
        // That one is under way already: nothing is tried again, only waited for.
        if (error.code !== 'request_in_progress' && tries++ >= maxRetries) throw error
        await pause(delayMs(connection, tries, error.retryAfter), whole.signal)
      }
    }
  } finally {
    whole.clear()
  }
}

async function tryOnce<T>(connection: Connection, call: Call, init: Init, whole: AbortSignal, read: Read<T>): Promise<T> {
  const url = toUrl(connection, call)
  const { silenceMs = Number.POSITIVE_INFINITY } = call
  const one = deadline(silenceMs, () => new ReparteeError('connection_failed', `Nothing came for ${silenceMs} ms.`), whole)
  const ask = (credential: string | undefined) => {
    const own: Record<string, string> = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
    const headers = checked({ ...init.headers, ...own })
    return connection.fetch(url, { ...init, headers, signal: one.signal })
  }
  try {
    const credential = await orAborted(connection.credentials.get(), one.signal)
    let response = await ask(credential)
    if (response.status === 401) {
      // Read first: whatever comes of asking for another token, its connection is free.
      const refusal = await fromResponse(response)
      const fresh = await orAborted(connection.credentials.renew(credential), one.signal)
      if (fresh === undefined || fresh === credential) throw refusal
      response = await ask(fresh)
    }
    if (!response.ok) throw await fromResponse(response)
    return await read(response)
  } finally {
    one.clear()
  }
}

/** What cannot be sent at all would look as if the service could not be reached, and be tried again in vain. */
function toUrl({ baseUrl }: Connection, { path, query }: Call): string {
  const url = `${baseUrl}${path()}${toQuery(query)}`
  const { location } = globalThis as { location?: { href: string; protocol: string } }
  const base = location?.href
  const { protocol } = URL.canParse(url, base) ? new URL(url, base) : {}
  if (protocol !== undefined && (/^https?:$/.test(protocol) || protocol === location?.protocol)) return url
  throw new ReparteeError('invalid_request', `${baseUrl} is no address here: it begins with https:// or http://.`)
}

/** As with addresses: a token that is a page of HTML, or an Idempotency-Key in Greek, is no header. */
function checked(headers: Record<string, string>): Record<string, string> {
  for (const [name, value] of Object.entries(headers))
    try {
      new Headers({ [name]: value })
    } catch (cause) {
      const what = name === 'authorization' ? 'key or token' : name
      throw new ReparteeError('invalid_request', `The ${what} holds characters that no header may hold.`, { cause })
    }
  return headers
}

function toInit({ method, body, headers, keepsNoAnswer }: Call, idempotencyKey: string | undefined): Init {
  const isForm = body instanceof FormData
  const all: Record<string, string> = { accept: 'application/json', ...headers }
  if (body !== undefined && !isForm) all['content-type'] = 'application/json'
  if (method === 'POST' && !keepsNoAnswer) all['idempotency-key'] = idempotencyKey ?? uuid()
  return { method, headers: all, ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }) }
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ReparteeError('connection_failed', 'The answer is not one of Repartee: it is not JSON.', { cause })
  }
}

function toQuery(query: object = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== null) search.append(name, String(value))
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

/** `fetch` throws whatever it likes. */
function toError(thrown: unknown, signal: AbortSignal): ReparteeError {
  if (signal.aborted) return signal.reason as ReparteeError
  if (thrown instanceof ReparteeError) return thrown
  return new ReparteeError('connection_failed', 'The service could not be reached, or the connection broke.', { cause: thrown })
}

/** Longer waits are told to the caller, as `retryAfter`. */
const MAX_WAIT_SECONDS = 60
/** The service has done nothing, and says so. */
const REFUSED = [408, 409, 429, 503]
const PROXY_FAILED = [502, 504]

function mayHelp({ code, status, retryAfter }: ReparteeError, isSafe: boolean): boolean {
  if (status === undefined) return isSafe && code === 'connection_failed'
  if (retryAfter !== undefined) return retryAfter <= MAX_WAIT_SECONDS && (isSafe || REFUSED.includes(status))
  // A turn that failed was tried by the service as often as makes sense.
  if (PROXY_FAILED.includes(status)) return isSafe && code === 'connection_failed'
  return status === 408 || status === 429 || status === 503
}

const MAX_DELAY_MS = 8_000

/** Twice as long each time, and never quite the same, so that many who were cut off together do not come back together. */
export function delayMs({ retryDelayMs }: Connection, tries: number, retryAfter = 0): number {
  const longest = Math.min(MAX_DELAY_MS, retryDelayMs * 2 ** Math.max(0, tries - 1))
  return retryAfter * 1_000 + longest * (0.5 + Math.random() / 2)
}

/** A path with ids in it, made when it is used. An id that would lead elsewhere is refused, because a request must not do more than was meant. */
export const path =
  (parts: TemplateStringsArray, ...ids: string[]): Call['path'] =>
  () =>
    parts.reduce((before, part, i) => {
      const id = ids[i - 1]
      if (typeof id !== 'string' || id === '' || id === '.' || id === '..')
        throw new ReparteeError('invalid_request', `An id is needed in ${parts.join('{id}')}, and ${JSON.stringify(id)} is none.`)
      return before + encodeURIComponent(id) + part
    })
