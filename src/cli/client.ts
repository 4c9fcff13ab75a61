import { setTimeout as sleep } from 'node:timers/promises'
import type { Contract } from '../api/contract.ts'
import type { ResponseOf } from '../api/operation.ts'
import type { ErrorDetail } from '../core/errors.ts'
import { CommandError, exitCodes } from './command.ts'
import { getService, noService, type Service } from './service.ts'
import { plain } from './show.ts'

/** The body of a success, by the name of the operation in the contract. */
export type HttpAnswer<K extends keyof Contract> = ResponseOf<Contract[K]>
export type ShownAgent = HttpAnswer<'listAgents'>['agents'][number]
export type ShownDocument = HttpAnswer<'listDocuments'>['documents'][number]
export type Key = HttpAnswer<'listKeys'>['keys'][number]

export interface CallOptions {
  query?: Record<string, string>
  /** JSON, or a form for uploads. */
  body?: object | FormData
  signal?: AbortSignal
  /** Made twice it does no more than once, as is true of every GET: it may be tried again where the service is out of breath (503). */
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

/** The service said no; the message is for people, with the details and the id of the request. */
export class ServiceError extends CommandError {
  readonly status: number
  /** The contract's error code. */
  readonly code: string
  /** The service's own words alone. */
  readonly reason: string

  constructor(status: number, { code, message, requestId, details = [] }: Refusal, hint = '') {
    const further = details.filter((d) => `${d.path} ${d.message}` !== message).map((d) => `\n  - ${d.path} ${d.message}`)
    // The service may be another one than was thought.
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

/** How often a call that came too soon is made again, each time after the wait that the service asks for. */
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

/** Every item of a paged list, in the order of the list. */
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
      // To another place, the key would go along.
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
