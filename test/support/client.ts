import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  /** Name, value, name, value, … as received. */
  rawHeaders: string[]
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test says what a body must be by asserting it
  body: any
}

export interface RequestOptions {
  /** Sent as JSON. */
  body?: unknown
  /** Sent unchanged, instead of `body`. */
  bytes?: string | Buffer
  /** `null` sends no key. */
  key?: string | null
  /** A list sends the header several times. `undefined` omits it. */
  headers?: Record<string, string | string[] | undefined>
  signal?: AbortSignal
}

/** Only ends hangs; not a measurement. */
const CLOSES_WITHIN_MS = 60_000

/** A caller of the service with one key and one base URL. It uses only HTTP. */
export class Client {
  /** Shared with the service, whose address changes when it restarts. */
  readonly address: { baseUrl: string }
  readonly key: string

  constructor(address: { baseUrl: string }, key: string) {
    this.address = address
    this.key = key
  }

  /** Returns a client for the same service with another key. */
  as(key: string): Client {
    return new Client(this.address, key)
  }

  get = (path: string, options?: RequestOptions) => this.request('GET', path, options)
  delete = (path: string, options?: RequestOptions) => this.request('DELETE', path, options)
  post = (path: string, body?: unknown, options?: RequestOptions) => this.request('POST', path, { body, ...options })
  patch = (path: string, body?: unknown, options?: RequestOptions) => this.request('PATCH', path, { body, ...options })
  put = (path: string, body?: unknown, options?: RequestOptions) => this.request('PUT', path, { body, ...options })

  /** `path` is relative to the base URL, or to the host if it starts with `^`. */
  request(method: string, path: string, { body, bytes, key, headers, signal }: RequestOptions = {}): Promise<Answer> {
    const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
    const all: Record<string, string | string[] | undefined> = {
      ...(key === null ? {} : { 'x-api-key': key ?? this.key }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(sent)) }),
      ...headers,
    }
    const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as OutgoingHttpHeaders
    const url = this.url(path)
    const open = url.startsWith('https:') ? httpsRequest : httpRequest
    return new Promise((resolve, reject) => {
      const request = open(url, { method, headers: present, ...(signal && { signal }) }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const isJson = response.headers['content-type']?.startsWith('application/json') === true && text !== ''
          const { statusCode: status = 0, headers, rawHeaders } = response
          resolve({ status, headers, rawHeaders, text, body: isJson ? JSON.parse(text) : undefined })
        })
      })
      request.on('error', reject)
      request.end(sent)
    })
  }

  /** Writes bytes to a socket. Resolves to the response when the service closes the connection; rejects if it does not. */
  raw(bytes: string | Buffer, withinMs = CLOSES_WITHIN_MS): Promise<string> {
    const { protocol, hostname, port } = new URL(this.address.baseUrl)
    const secure = protocol === 'https:'
    const host = hostname.replace(/^\[|\]$/g, '')
    return new Promise((resolve, reject) => {
      const socket = secure ? tlsConnect({ host, port: Number(port || 443) }) : connect(Number(port || 80), host)
      const chunks: Buffer[] = []
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)))
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')))
      socket.setTimeout(withinMs, () => {
        reject(new Error(`the connection was left open after: ${Buffer.concat(chunks)}`))
        socket.destroy()
      })
      socket.write(bytes)
    })
  }

  /** Returns a request as bytes for `raw`. */
  bytesOf(method: string, path: string, body?: unknown, headers: string[] = []): string {
    const { host, pathname, search } = new URL(this.url(path))
    const text = body === undefined ? '' : JSON.stringify(body)
    const length = body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
    const head = [`${method} ${pathname}${search} HTTP/1.1`, `Host: ${host}`, `X-API-Key: ${this.key}`, ...length, ...headers]
    return `${head.join('\r\n')}\r\n\r\n${text}`
  }

  private url(path: string): string {
    const { baseUrl } = this.address
    return path.startsWith('^') ? new URL(path.slice(1), baseUrl).href : baseUrl + path
  }
}
