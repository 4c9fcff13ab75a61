import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { AgentCache } from '../../agents/agent-cache.ts'
import { own } from '../../core/platform/own.ts'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const ASKED =
  'Authorization, Content-Type, Accept, Idempotency-Key, Last-Event-ID, X-Request-Id, Traceparent, Tracestate, Baggage'
const TOLD = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Allow'
/** How long a browser may cache a preflight response. */
const KNOWN_SECONDS = 7_200
/** Additional headers by first path segment: for the Model Context Protocol; for OpenAI's clients, and to name a session. */
const ALSO_ASKED: Record<string, string> = {
  mcp: 'MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  openai:
    'User-Agent, X-Session-Id, X-Stainless-Lang, X-Stainless-Package-Version, X-Stainless-OS, X-Stainless-Arch, X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Retry-Count, X-Stainless-Timeout, X-Stainless-Helper-Method, OpenAI-Organization, OpenAI-Project',
}
const AGENT = /^\/(?:(?:ai-sdk\/)?v1\/agents|mcp)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:[/?]|$)/i
const ANY = '*'
/** Names that no other machine can have, as `URL` prints them. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Origins of pages whose scripts may read responses (Fetch standard, CORS): the deployment's, and an agent's for its own paths. Default: none. */
export class AllowedOrigins {
  readonly #origins: ReadonlySet<string>
  readonly #agents: AgentCache
  readonly #publicOrigin: string | undefined

  /** `text`: origins separated by commas; `*` is any. `publicUrl`: the address at which callers reach the service. */
  constructor(text: string | undefined, agents: AgentCache, publicUrl: string | undefined) {
    this.#publicOrigin = originOf(publicUrl)
    this.#origins = new Set(text?.split(',').map((origin) => origin.trim()))
    this.#agents = agents
  }

  /** Returns true if the origin is allowed, or if there is none. */
  async allows({ url = '', headers: { origin } }: IncomingMessage): Promise<boolean> {
    if (origin === undefined || this.#origins.has(origin) || this.#origins.has(ANY)) return true
    const agentId = AGENT.exec(url)?.[1]?.toLowerCase()
    if (agentId === undefined) return false
    const agent = await this.#agents.get(agentId).catch(() => undefined)
    return agent !== undefined && (agent.allowedOrigins.includes(origin) || agent.allowedOrigins.includes(ANY))
  }

  /**
   * Returns true for pages that the service itself serves. A Host that equals the Origin proves nothing: a foreign name can be rebound to this machine (DNS
   * rebinding), and both headers then contain that name. So the origin must be the public address, or a loopback address that the request was sent to.
   */
  isOwn({ headers: { origin, host }, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>): boolean {
    if (origin === undefined) return false
    if (origin === this.#publicOrigin) return true
    return origin === originOf(`${protocol}://${host}`) && LOOPBACK.has(new URL(origin).hostname)
  }

  /** Allows the calling page to read the response if its origin is allowed. */
  async tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Vary', 'Origin')
    if (!(await this.allows(request))) return
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin!)
    response.setHeader('Access-Control-Expose-Headers', TOLD)
  }

  /** Returns true for a CORS preflight request. If no page may call, `OPTIONS` is a method like any other. */
  async isPreflight(request: IncomingMessage): Promise<boolean> {
    const { method, headers } = request
    const isAsked = method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
    return isAsked && (this.#origins.size > 0 || (await this.allows(request)))
  }

  tellPreflight({ url = '' }: IncomingMessage, response: ServerResponse): void {
    response.setHeader('Access-Control-Allow-Methods', METHODS)
    const also = own(ALSO_ASKED, url.split(/[/?]/, 2)[1] ?? '')
    response.setHeader('Access-Control-Allow-Headers', also === undefined ? ASKED : `${ASKED}, ${also}`)
    response.setHeader('Access-Control-Max-Age', KNOWN_SECONDS)
  }
}

const originOf = (url: string | undefined): string | undefined => (url === undefined ? undefined : URL.parse(url)?.origin)
