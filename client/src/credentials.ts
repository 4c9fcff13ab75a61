import { ReparteeError } from './errors.ts'

/** A user token, or the response of `POST …/tokens`. With `expiresAt`, the client renews the token before it expires. */
export type UserToken = string | { token: string; expiresAt?: string | undefined }

/** Gets a valid token, for example from the server of the page. */
export type GetToken = () => UserToken | Promise<UserToken>

/** The credentials of a request: an API key, a token, or a function that gets tokens. */
export interface Credentials {
  /** Returns the key or token to send, or undefined if another layer adds it. */
  get(): Promise<string | undefined>
  /** Returns a replacement for a rejected credential, or undefined if there is none. */
  renew(refused: string | undefined): Promise<string | undefined>
}

/** A token is not used shortly before it expires, because it could expire in transit. */
const SPARE_MS = 30_000

interface Held {
  token: string
  endsAt: number
}

/** Caches a token in memory until it is rejected or about to expire. Concurrent requests share one call of the token function. */
export function credentials({ key, token }: { key?: string | undefined; token?: string | GetToken | undefined }): Credentials {
  if (key !== undefined && token !== undefined) throw new TypeError('Give a key or a token, not both.')
  if (typeof token !== 'function') return { get: async () => key ?? token, renew: async () => undefined }
  let held: Promise<Held> | undefined
  const fetchToken = () => {
    const asked = Promise.resolve().then(token).then(toHeld).catch(refuse)
    held = asked
    asked.catch(() => {
      if (held === asked) held = undefined
    })
    return asked
  }
  const get = async () => {
    const asked = held
    const kept = await asked
    if (kept !== undefined && kept.endsAt > Date.now()) return kept.token
    // Other requests waited for the same token. The first of them has already requested a new one.
    return (await (held === undefined || held === asked ? fetchToken() : held)).token
  }
  return {
    get,
    async renew(refused) {
      const asked = held
      if ((await asked)?.token === refused && held === asked) held = undefined
      return get()
    },
  }
}

function toHeld(answer: UserToken): Held {
  const { token, expiresAt } = typeof answer === 'string' ? { token: answer } : answer
  if (typeof token !== 'string' || token === '')
    throw new ReparteeError('unauthorized', 'The function that gets tokens gave none.')
  const endsAt = Date.parse(expiresAt ?? '') - SPARE_MS
  // A new token that seems expired is short-lived, or the device's clock is wrong. It is used until it is rejected.
  return { token, endsAt: endsAt > Date.now() ? endsAt : Number.POSITIVE_INFINITY }
}

function refuse(cause: unknown): never {
  if (cause instanceof ReparteeError) throw cause
  throw new ReparteeError('connection_failed', 'The function that gets tokens failed.', { cause })
}
