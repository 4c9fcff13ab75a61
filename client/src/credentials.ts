import { ReparteeError } from './errors.ts'

/** A token of a user, or what `POST …/tokens` answers: by `expiresAt` it is renewed before it ends. */
export type UserToken = string | { token: string; expiresAt?: string | undefined }

/** Gets a token that is good now, for example from the server of the page. */
export type GetToken = () => UserToken | Promise<UserToken>

/** What a request is made with: a key, a token, or a function that gets tokens. */
export interface Credentials {
  /** The key or token to send; undefined where something else puts one in. */
  get(): Promise<string | undefined>
  /** One to use after this one was refused; undefined where there is no other. */
  renew(refused: string | undefined): Promise<string | undefined>
}

/** A token is not used in its last moments, in which it could end on the way. */
const SPARE_MS = 30_000

interface Held {
  token: string
  endsAt: number
}

/** A token is kept, in memory alone, until it is about to end or is refused, and got once however many requests want it. */
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
    // Others have waited for the same one, and the first of them has asked already.
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
  // A fresh one that seems to be over: it is short, or the clock of this device is wrong. Then it ends when it is refused.
  return { token, endsAt: endsAt > Date.now() ? endsAt : Number.POSITIVE_INFINITY }
}

function refuse(cause: unknown): never {
  if (cause instanceof ReparteeError) throw cause
  throw new ReparteeError('connection_failed', 'The function that gets tokens failed.', { cause })
}
