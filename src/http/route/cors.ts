import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { AgentCache } from '../../agents/agent-cache.ts'
import { own } from '../../core/platform/own.ts'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const ASKED =
  'Authorization, Content-Type, Accept, Idempotency-Key, Last-Event-ID, X-Request-Id, Traceparent, Tracestate, Baggage'
const TOLD = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Allow'
/** A browser need not ask again for so long. */
const KNOWN_SECONDS = 7_200
/** Beyond those, below a path: of the Model Context Protocol; of the clients of OpenAI, and what names a session to them. */
const ALSO_ASKED: Record<string, string> = {
  mcp: 'MCP-Protocol-Version, Mcp-Method, Mcp-Name',
  openai:
    'User-Agent, X-Session-Id, X-Stainless-Lang, X-Stainless-Package-Version, X-Stainless-OS, X-Stainless-Arch, X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Retry-Count, X-Stainless-Timeout, X-Stainless-Helper-Method, OpenAI-Organization, OpenAI-Project',
}
const AGENT = /^\/(?:(?:ai-sdk\/)?v1\/agents|mcp)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:[/?]|$)/i
const ANY = '*'
/** Names that no other machine can have; `URL` prints them so. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The origins of pages whose scripts may read answers (Fetch standard, CORS): those of the deployment, and those that an agent names, about itself. None unless set. */
export class AllowedOrigins {
  readonly #origins: ReadonlySet<string>
  readonly #agents: AgentCache
  readonly #publicOrigin: string | undefined

  /** `text`: with commas between; `*` is any. `publicUrl`: the address under which callers reach the service. */
  constructor(text: string | undefined, agents: AgentCache, publicUrl: string | undefined) {
    this.#publicOrigin = originOf(publicUrl)
    this.#origins = new Set(text?.split(',').map((origin) => origin.trim()))
    this.#agents = agents
  }

  /** True also where no page asks. */
  async allows({ url = '', headers: { origin } }: IncomingMessage): Promise<boolean> {
    if (origin === undefined || this.#origins.has(origin) || this.#origins.has(ANY)) return true
    const agentId = AGENT.exec(url)?.[1]?.toLowerCase()
    if (agentId === undefined) return false
    const agent = await this.#agents.get(agentId).catch(() => undefined)
    return agent !== undefined && (agent.allowedOrigins.includes(origin) || agent.allowedOrigins.includes(ANY))
  }

  /**
   * True for pages that the service itself serves. A Host that equals the Origin proves nothing by itself: a foreign name can be rebound to this machine, and
   * both headers then hold that name. So the origin must be the public address, or a loopback address that the request was sent to.
   */
  isOwn({ headers: { origin, host }, protocol }: Pick<FastifyRequest, 'headers' | 'protocol'>): boolean {
    if (origin === undefined) return false
    if (origin === this.#publicOrigin) return true
    return origin === originOf(`${protocol}://${host}`) && LOOPBACK.has(new URL(origin).hostname)
  }

  /** Lets the page that asks read the answer, if it may. */
  async tell(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.setHeader('Vary', 'Origin')
    if (!(await this.allows(request))) return
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin!)
    response.setHeader('Access-Control-Expose-Headers', TOLD)
  }

  /** Whether it is a browser's question, before the request itself, whether a page may make it. Where none may, it is a method like any other. */
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
