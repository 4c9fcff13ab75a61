import { setTimeout as sleep } from 'node:timers/promises'
import type { Contract } from '../api/contract.ts'
import type { ResponseOf } from '../api/operation.ts'
import type { ErrorDetail } from '../core/errors.ts'
import { CommandError, exitCodes } from './command.ts'
import { getService, noService, type Service } from './service.ts'
import { plain } from './show.ts'

/** The body of a successful response, by the operation's name in the contract. */
export type HttpAnswer<K extends keyof Contract> = ResponseOf<Contract[K]>
export type ShownAgent = HttpAnswer<'listAgents'>['agents'][number]
export type ShownDocument = HttpAnswer<'listDocuments'>['documents'][number]
export type Key = HttpAnswer<'listKeys'>['keys'][number]

export interface CallOptions {
  query?: Record<string, string>
  /** JSON, or a form for uploads. */
  body?: object | FormData
  signal?: AbortSignal
  /** True if a repeated call has no further effect, as for every GET. It is then retried if the service is overloaded (503). */
  isRepeatable?: boolean
}

export interface Client {
  service: Service
  /**
   * `path` is relative to `/v1`. Throws `ServiceError` if the service refuses the request, `ConnectionCut` if it closes the connection, and `CommandError` if
   * no service answers.
   */
  call<K extends keyof Contract>(method: string, path: string, options?: CallOptions): Promise<HttpAnswer<K>>
}

/** An error response of the service. The message is for people, with the details and the request id. */
export class ServiceError extends CommandError {
  readonly status: number
  /** The contract's error code. */
  readonly code: string
  /** The service's message alone. */
  readonly reason: string

  constructor(status: number, { code, message, requestId, details = [] }: Refusal, hint = '') {
    const further = details.filter((d) => `${d.path} ${d.message}` !== message).map((d) => `\n  - ${d.path} ${d.message}`)
    // `plain`, because the URL may lead to an unexpected, untrusted service.
    super(plain(`${message}${hint}${further.join('')}\n(${status} ${code}, request ${requestId})`))
    this.name = 'ServiceError'
    this.status = status
    this.code = code
    this.reason = message
  }
}

interface Refusal {
  code: string
  message: string
  requestId: string
  details?: ErrorDetail[]
}

/** The service closed the connection before it had the whole request, for example because the body is too large. */
export class ConnectionCut extends CommandError {}

const CUT = new Set(['EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET'])

/** The most attempts for a call that is rate-limited or rejected as overloaded. Each waits as long as the service asks for. */
const MAX_TRIES = 5

export const connect = (env: NodeJS.ProcessEnv): Client => connectTo(getService(env))

export function connectTo(service: Service): Client {
  return {
    service,
    async call(method, path, options = {}) {
      for (let attempt = 1; ; attempt++) {
        const response = await send(service, method, path, options)
        const { isRepeatable = method === 'GET' } = options
        const isTooSoon = response.status === 429 || (response.status === 503 && isRepeatable)
        if (!isTooSoon || attempt === MAX_TRIES) return (await read(service, response)) as never
        await response.body?.cancel()
        await sleep(1000 * (Number(response.headers.get('retry-after')) || 1), undefined, { signal: options.signal })
      }
    },
  }
}

/** Resolves to all items of a paged list, in order. */
export async function listAll<T>({ call }: Client, path: string, noun: string, query: Record<string, string> = {}): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = null
  do {
    const page = (await call<'listAgents'>('GET', path, {
      query: { ...query, limit: '100', ...(cursor === null ? {} : { cursor }) },
    })) as unknown as Pick<HttpAnswer<'listAgents'>, 'pagination'> & Record<string, T[]>
    const { nextCursor } = page.pagination
    if (nextCursor !== null && nextCursor === cursor)
      throw new CommandError('The service answers with the same page again and again.', exitCodes.failed)
    items.push(...page[noun]!)
    cursor = nextCursor
  } while (cursor !== null)
  return items
}

async function send({ url, key, urlFrom }: Service, method: string, path: string, { query, body, signal }: CallOptions) {
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
  const headers: Record<string, string> = { 'X-API-Key': key }
  if (body !== undefined && !(body instanceof FormData)) headers['Content-Type'] = 'application/json'
  try {
    return await fetch(`${url}${path}${search}`, {
      method,
      headers,
      body: body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body),
      signal: signal ?? null,
      // A redirect would send the key to another address.
      redirect: 'manual',
    })
  } catch (error) {
    if (signal?.aborted) throw error
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException
    if (body !== undefined && CUT.has(code ?? ''))
      throw new ConnectionCut('The service closed the connection before it had the whole request.', exitCodes.unreachable, {
        cause: error,
      })
    throw noService(`${urlFrom} names ${url}, where nothing answers (${code ?? message})`, error)
  }
}

async function read({ url, urlFrom, keyFrom }: Service, response: Response): Promise<object> {
  if (response.status >= 300 && response.status < 400) {
    const target = URL.parse(response.headers.get('location') ?? '', url)?.origin ?? 'elsewhere'
    throw noService(`${urlFrom} names ${url}, which leads to ${target}: name the address of the service itself`)
  }
  const body = (await response.json().catch(() => undefined)) as { success?: boolean; error?: Refusal } | undefined
  if (response.ok && body?.success === true) return body
  if (response.ok || body?.error?.code === undefined) {
    throw noService(`what answers at ${url} (status ${response.status}) is not Repartee`)
  }
  throw new ServiceError(response.status, body.error, response.status === 401 ? ` The key comes from ${keyFrom}.` : '')
}
