import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listen } from './cleanup.ts'

export type Page = string | { type?: string; body: string | Buffer; headers?: Record<string, string> } | Handler
type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A local web site whose pages a test defines. It records its requests. */
export class WebSite {
  readonly #server = createServer((request, response) => {
    this.asked.push(request)
    this.#answer(request, response)
  })
  readonly pages = new Map<string, Page>()
  readonly asked: IncomingMessage[] = []

  async start(): Promise<this> {
    await listen(this.#server)
    return this
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  url(path: string): string {
    return `http://${this.host}${path}`
  }

  /** Returns how often a path was requested. */
  count(path: string): number {
    return this.asked.filter((request) => request.url === path).length
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const page = this.pages.get(request.url!)
    if (page === undefined) return void response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not here</p>')
    if (typeof page === 'function') {
      page(request, response)
      return
    }
    const { type = 'text/html; charset=utf-8', body, headers = {} } = typeof page === 'string' ? { body: page } : page
    if (headers.etag !== undefined && request.headers['if-none-match'] === headers.etag)
      return void response.writeHead(304, headers).end()
    response.writeHead(200, { 'content-type': type, ...headers }).end(body)
  }
}
