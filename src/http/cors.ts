import type { IncomingMessage, ServerResponse } from 'node:http'

const METHODS = 'GET, POST, PUT, PATCH, DELETE'
const ASKED = 'Authorization, Content-Type, Accept, Idempotency-Key, Last-Event-ID, X-Request-Id'
const TOLD = 'X-Request-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Allow'
/** A browser need not ask again for so long. */
const KNOWN_SECONDS = 7_200

/** The origins of pages whose scripts may read answers (Fetch standard, CORS). None unless set. */
export class AllowedOrigins {
  readonly #origins: ReadonlySet<string>

  /** `text`: with commas between; `*` is any. */
  constructor(text: string | undefined) {
    this.#origins = new Set(text?.split(',').map((origin) => origin.trim()))
  }

  /** True also where no page asks. */
  allows({ headers: { origin } }: IncomingMessage): boolean {
    return origin === undefined || this.#origins.has(origin) || this.#origins.has('*')
  }

  /** Lets the page read the answer, if it may. */
  tell(request: IncomingMessage, response: ServerResponse): void {
    if (this.#origins.size === 0) return
    response.setHeader('Vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !this.allows(request)) return
    response.setHeader('Access-Control-Allow-Origin', origin)
    response.setHeader('Access-Control-Expose-Headers', TOLD)
  }

  /** Whether it is a browser's question, before the request itself, whether a page may make it. */
  isPreflight({ method, headers }: IncomingMessage): boolean {
    return this.#origins.size > 0 && method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
  }

  tellPreflight(response: ServerResponse): void {
    response.setHeader('Access-Control-Allow-Methods', METHODS)
    response.setHeader('Access-Control-Allow-Headers', ASKED)
    response.setHeader('Access-Control-Max-Age', KNOWN_SECONDS)
  }
}
