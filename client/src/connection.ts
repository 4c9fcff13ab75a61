import { type Credentials, credentials, type GetToken } from './credentials.ts'

export interface ConnectionOptions {
  /** Of the service, as its start prints it: `https://chat.example.com/v1`. A page of the same origin may say `/v1`. */
  baseUrl: string
  /** An API key. Never in a page: whoever reads the page has it. */
  key?: string | undefined
  /** A token of a user, or a function that gets one; the function is asked again when a token is refused, or about to end where it told when. */
  token?: string | GetToken | undefined
  fetch?: typeof globalThis.fetch | undefined
  /** How long a call may take, its tries and the pauses between them together; of a stream, until its first event. 180,000 unless given. */
  timeoutMs?: number | undefined
  /** How often a call is tried again at most, where that is safe and may help. 4 unless given. */
  maxRetries?: number | undefined
  /** The pause before the first try again, which doubles with each. 500 unless given. */
  retryDelayMs?: number | undefined
  /** A stream on which nothing comes for so long is dead, and taken up again; the service says something every 15 s. 45,000 unless given. */
  silenceMs?: number | undefined
}

/** What the functions of this package call the service with. */
export interface Connection {
  readonly baseUrl: string
  readonly credentials: Credentials
  readonly fetch: typeof globalThis.fetch
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly retryDelayMs: number
  readonly silenceMs: number
}

/** Settings only: nothing is sent yet. Throws `TypeError` where they cannot be meant. */
export function connect(options: ConnectionOptions): Connection {
  const { baseUrl, key, token, timeoutMs = 180_000, maxRetries = 4, retryDelayMs = 500, silenceMs = 45_000 } = options
  if (typeof baseUrl !== 'string' || baseUrl === '') throw new TypeError('baseUrl is needed, like https://chat.example.com/v1.')
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    credentials: credentials({ key, token }),
    // Looked up when it is called, and called as a function: browsers refuse a fetch that is called as a method of something else.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeoutMs,
    maxRetries,
    retryDelayMs,
    silenceMs,
  }
}
