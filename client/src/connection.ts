import { type Credentials, credentials, type GetToken } from './credentials.ts'

export interface ConnectionOptions {
  /** The URL that the service prints at start: `https://chat.example.com/v1`. A page of the same origin can use `/v1`. */
  baseUrl: string
  /** An API key. Never use one in a web page: every visitor can read it. */
  key?: string | undefined
  /** A user token, or a function that gets one. The function is called again when the token is rejected or about to expire (by `expiresAt`). */
  token?: string | GetToken | undefined
  fetch?: typeof globalThis.fetch | undefined
  /** Maximum time for a call, including retries and pauses. For a stream: the time until its first event. Default: 180,000. */
  timeoutMs?: number | undefined
  /** Maximum number of retries, if a retry is safe and can help. Default: 4. */
  maxRetries?: number | undefined
  /** Pause before the first retry. It doubles with each retry. Default: 500. */
  retryDelayMs?: number | undefined
  /** A stream that is silent for this long is resumed. The service sends something every 15 s. Default: 45,000. */
  silenceMs?: number | undefined
}

/** The settings that the functions of this package call the service with. */
export interface Connection {
  readonly baseUrl: string
  readonly credentials: Credentials
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly retryDelayMs: number
  readonly silenceMs: number
}

/** Validates settings without sending a request. Throws `TypeError` if `baseUrl` is missing or both a key and a token are given. */
export function connect(options: ConnectionOptions): Connection {
  const { baseUrl, key, token, timeoutMs = 180_000, maxRetries = 4, retryDelayMs = 500, silenceMs = 45_000 } = options
  if (typeof baseUrl !== 'string' || baseUrl === '') throw new TypeError('baseUrl is needed, like https://chat.example.com/v1.')
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    credentials: credentials({ key, token }),
    // Resolves the global `fetch` at call time. Browsers reject a `fetch` that is called as a method of another object.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs,
    maxRetries,
    retryDelayMs,
    silenceMs,
  }
}
