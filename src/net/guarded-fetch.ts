import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { httpRequest, httpsRequest, limitResponse } from '../core/platform/node-http.ts'
import { addressIn, isPublicAddress } from './address.ts'
import { FetchError } from './fetch-error.ts'
import { type Resolve, resolveByDns, resolveBySystem } from './resolve.ts'

export interface FetchRules {
  /** `host:port` values that are allowed although they are private. The port is always required. */
  allow: ReadonlySet<string>
  /** Limit of the decompressed body. */
  maxBytes: number
  /** Until the head of the answer. */
  headTimeoutMs: number
  /** Until the end of the body. */
  timeoutMs: number
  userAgent: string
  /** Default: the machine's resolver for hosts in `allow`, which may be in its hosts file, and its DNS servers for all others. */
  resolve?: Resolve
}

/** Allows only the public internet. */
export const FETCH_RULES: FetchRules = {
  allow: new Set(),
  maxBytes: 52_428_800,
  headTimeoutMs: 10_000,
  timeoutMs: 30_000,
  userAgent: 'Repartee',
}

/** Parses `host:port` values separated by commas; returns undefined for any other text. */
export function parseHosts(text: string): Set<string> | undefined {
  const hosts = text
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '')
  return hosts.every((host) => /^(?:[^\s:/[\]]+|\[[\da-f:.]+\]):\d{1,5}$/.test(host)) ? new Set(hosts) : undefined
}

export interface FetchInput {
  url: string
  /** ETag of the stored copy: an unchanged page is not sent again. */
  etag?: string | null
  lastModified?: string | null
  accept?: string
  signal?: AbortSignal
  /** Called when a body exceeds `LARGE_BYTES`. The fetch pauses until the promise resolves. */
  whenLarge?: (signal: AbortSignal) => Promise<void> | undefined
}

export interface Fetched {
  /** The final URL, after redirects. */
  url: string
  /** True after a temporary redirect, for example to a login page. */
  isElsewhere: boolean
  /** False if the stored copy is current; then there is no body. */
  changed: boolean
  contentType: string | null
  body: Uint8Array
  etag: string | null
  lastModified: string | null
}

const MAX_REDIRECTS = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const TEMPORARY_REDIRECTS = new Set([302, 303, 307])
const MAX_URL_CHARS = 4_096

/**
 * Fetches a URL of the public internet by GET, without cookies or credentials. The name is resolved once, and only these addresses are used.
 * Every redirect is checked like the first URL. Throws `FetchError`.
 */
export async function guardedFetch(rules: FetchRules, input: FetchInput): Promise<Fetched> {
  const deadline = new Deadline(rules.timeoutMs)
  const signal = input.signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, input.signal])
  try {
    return await fetchBy(deadline, rules, { ...input, signal })
  } finally {
    deadline.pause()
  }
}

async function fetchBy(deadline: Deadline, rules: FetchRules, input: FetchInput & { signal: AbortSignal }): Promise<Fetched> {
  const { signal } = input
  let url = toFetchable(input.url)
  let isElsewhere = false
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const response = await open(rules, url, { method: 'GET', headers: headersOf(input) }, signal)
    const { statusCode = 0, headers } = response
    const to = REDIRECTS.has(statusCode) ? headers.location : undefined
    if (to === undefined) return { url: url.href, isElsewhere, ...(await take(rules, input, response, deadline)) }
    response.destroy()
    isElsewhere ||= TEMPORARY_REDIRECTS.has(statusCode)
    url = toFetchable(URL.parse(to, url.href)?.href ?? to)
  }
  throw new FetchError('fetch_failed', `was redirected more than ${MAX_REDIRECTS} times`)
}

/** A timeout that can be paused. */
class Deadline {
  readonly #stop = new AbortController()
  #leftMs: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number) {
    this.#leftMs = ms
    this.resume()
  }

  /** Aborted with a `TimeoutError` at the deadline. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= performance.now() - this.#since
  }

  resume(): void {
    this.#since = performance.now()
    this.#timer = setTimeout(() => this.#stop.abort(new DOMException('The time is over.', 'TimeoutError')), this.#leftMs)
  }
}

/** Returns the URL to request. Throws `FetchError` if it is not a web URL. */
export function toFetchable(given: string): URL {
  const refuse = (message: string) => new FetchError('address_refused', message)
  const tooLong = () => refuse(`is longer than ${MAX_URL_CHARS} characters`)
  if (given.length > MAX_URL_CHARS) throw tooLong()
  // Browsers guess the meaning of `http:host`, a backslash or a line break. Another program may guess differently.
  if (!/^https?:\/\/[^/\\]/i.test(given) || /[\\\s\p{Cc}]/u.test(given))
    throw refuse('is not an address of the form https://host/path')
  const url = URL.parse(given)
  if (url === null || url.hostname === '') throw refuse('is not an address of the form https://host/path')
  if (url.username !== '' || url.password !== '') throw refuse('must not hold a user name or password')
  url.hash = ''
  // A Chinese character becomes nine characters.
  if (url.href.length > MAX_URL_CHARS) throw tooLong()
  return url
}

const headersOf = ({ accept = '*/*', etag, lastModified }: FetchInput): Record<string, string> => ({
  accept,
  'accept-encoding': 'gzip, deflate, br',
  ...(etag ? { 'if-none-match': etag } : {}),
  ...(lastModified ? { 'if-modified-since': lastModified } : {}),
})

/** Resolves at the head of the answer. If the connection breaks later, the answer is destroyed. */
export async function open(
  rules: FetchRules,
  url: URL,
  { method, headers, body }: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: string },
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const addresses = await findAddresses(rules, url, signal)
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    }
    let answer: IncomingMessage | undefined
    const request: ClientRequest = (url.protocol === 'https:' ? httpsRequest : httpRequest)(
      url,
      {
        // A separate connection: one that is reused for the same name could lead to another address.
        agent: false,
        // Node tries several addresses until one works.
        lookup: (_name, options, done) => {
          const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
          if (options.all) done(null, found)
          else done(null, found[0]!.address, found[0]!.family)
        },
        method,
        headers: {
          ...headers,
          'user-agent': rules.userAgent,
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        },
        signal,
      },
      (response) => {
        answer = response
        clearTimeout(timer)
        // Without a content length, Node takes a broken connection for the end of the answer.
        request.on('error', (cause) => {
          if (!response.complete) response.destroy(cause)
        })
        resolve(response)
      },
    )
    // After the request, whose constructor may throw.
    const timer = setTimeout(() => {
      fail(new FetchError('unreachable', 'did not answer in time', { transient: true }))
      request.destroy()
    }, rules.headTimeoutMs)
    limitResponse(request, (of) => {
      const error = new FetchError('fetch_failed', `was answered with too many ${of}`)
      fail(error)
      answer?.destroy(error)
    })
    request.on('error', (cause) => fail(stopped(signal, cause)))
    // An answer that switches protocols (101) causes no error.
    request.on('close', () => fail(stopped(signal)))
    request.end(body)
  })
}

/** Resolves to the addresses of a host. Throws if one of them is not public. */
async function findAddresses(rules: FetchRules, url: URL, signal: AbortSignal): Promise<string[]> {
  const allowed = rules.allow.has(`${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`)
  const literal = addressIn(url)
  const { resolve = allowed ? resolveBySystem : resolveByDns } = rules
  const late = () => AbortSignal.any([signal, AbortSignal.timeout(rules.headTimeoutMs)])
  const addresses = literal === undefined ? await resolveName(resolve, url.hostname, late()) : [literal]
  if (!allowed && !addresses.every(isPublicAddress))
    throw new FetchError('address_refused', 'is an address of a private network, which this service may not reach')
  return addresses
}

async function resolveName(resolve: Resolve, name: string, late: AbortSignal): Promise<string[]> {
  if (late.aborted) throw stopped(late)
  const aborted = once(late, 'abort').then(() => {
    throw stopped(late)
  })
  const addresses = await Promise.race([resolve(name, late), aborted]).catch((cause: NodeJS.ErrnoException) => {
    if (late.aborted) throw stopped(late, cause)
    throw unknownHost(cause)
  })
  if (addresses.length === 0) throw unknownHost()
  return addresses
}

const unknownHost = (cause?: NodeJS.ErrnoException) =>
  new FetchError('unreachable', 'is on a host whose name is not known', {
    transient: cause !== undefined && cause.code !== 'ENOTFOUND',
    cause,
  })

async function take(
  rules: FetchRules,
  { etag, lastModified, signal, whenLarge = () => undefined }: FetchInput & { signal: AbortSignal },
  response: IncomingMessage,
  deadline: Deadline,
): Promise<Omit<Fetched, 'url' | 'isElsewhere'>> {
  const { statusCode = 0, headers } = response
  const about = {
    contentType: headers['content-type'] ?? null,
    etag: headers.etag ?? null,
    lastModified: headers['last-modified'] ?? null,
  }
  // A request without a condition must not get 304.
  if (statusCode === 304 && (etag || lastModified)) {
    response.destroy()
    return { ...about, changed: false, body: new Uint8Array(0) }
  }
  if (statusCode === 200)
    return { ...about, changed: true, body: await readBody(rules, response, { signal, whenLarge, deadline }) }
  response.destroy()
  const transient = statusCode === 408 || statusCode === 425 || statusCode === 429 || statusCode >= 500
  throw new FetchError('fetch_failed', `was answered with status ${statusCode}`, { transient, status: statusCode })
}

/** Text compresses to about 10 % of its size, a malicious page to 0.1 %. The first MiB may be compressed in any way. */
const MAX_RATIO = 100
const FREE_RATIO_BYTES = 1_048_576

/** Nearly all web pages are smaller. */
const LARGE_BYTES = 4_194_304

function readBody(
  { maxBytes }: FetchRules,
  response: IncomingMessage,
  { signal, whenLarge, deadline }: Required<Pick<FetchInput, 'signal' | 'whenLarge'>> & { deadline: Deadline },
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    /** Ends the wait for memory. */
    const failed = new AbortController()
    const fail = (error: unknown) => {
      reject(error)
      failed.abort(error)
      response.destroy()
      body.destroy()
    }
    const chunks: Buffer[] = []
    /** Allocated at the maximum size, which uses memory only for the written part. Concatenating at the end takes twice the memory. */
    let large: Buffer | undefined
    let bytes = 0
    let sentBytes = 0
    const keep = (chunk: Buffer) => {
      if (large !== undefined) return void chunk.copy(large, bytes - chunk.length)
      chunks.push(chunk)
      if (bytes <= LARGE_BYTES) return
      const begin = () => {
        large = Buffer.allocUnsafeSlow(maxBytes)
        let at = 0
        for (const small of chunks.splice(0)) at += small.copy(large, at)
      }
      const place = whenLarge(AbortSignal.any([signal, failed.signal]))
      if (place === undefined) return begin()
      body.pause()
      // The wait is not the server's fault.
      deadline.pause()
      place.then(() => {
        deadline.resume()
        begin()
        body.resume()
      }, fail)
    }
    // Counts bytes as received, compressed or not.
    response.on('data', (chunk: Buffer) => {
      sentBytes += chunk.length
    })
    const body = unpacked(response, fail)
    body.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > maxBytes) fail(new FetchError('too_large', 'holds more than a document may'))
      else if (bytes > FREE_RATIO_BYTES && bytes > sentBytes * MAX_RATIO)
        fail(new FetchError('too_large', `is compressed to less than ${100 / MAX_RATIO} % of its size`))
      else keep(chunk)
    })
    const breakOff = (cause: Error | null) => fail(cause instanceof FetchError ? cause : stopped(signal, cause))
    response.on('error', breakOff)
    // Node drops an error that arrives immediately after the head, before a listener exists.
    if (response.destroyed) breakOff(response.errored)
    response.on('close', () => {
      if (!response.readableEnded) fail(stopped(signal))
    })
    if (body !== response)
      body.on('error', (cause) => fail(new FetchError('fetch_failed', 'came damaged', { transient: true, cause })))
    body.on('end', () => {
      if (signal.aborted) return fail(stopped(signal))
      resolve(large === undefined ? Buffer.concat(chunks) : large.subarray(0, bytes))
      // Compressed data may end before the answer does. The rest is not needed.
      response.destroy()
    })
  })
}

function unpacked(response: IncomingMessage, fail: (error: unknown) => void): Readable {
  switch (response.headers['content-encoding']?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return response
    case 'gzip':
    case 'x-gzip':
      return response.pipe(createGunzip())
    case 'deflate':
      return response.pipe(createInflate())
    case 'br':
      return response.pipe(createBrotliDecompress())
    default:
      queueMicrotask(() => fail(new FetchError('fetch_failed', 'came packed in a way that was not asked for')))
      return response
  }
}

function stopped(signal: AbortSignal, cause?: unknown): unknown {
  if (!signal.aborted) return new FetchError('unreachable', 'broke the connection off', { transient: true, cause })
  if ((signal.reason as Error).name !== 'TimeoutError') return signal.reason
  return new FetchError('unreachable', 'did not send everything in time', { transient: true })
}
