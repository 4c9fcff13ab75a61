import { type Connection, ReparteeError } from 'repartee-client'
import type { UserToken } from '../options.ts'

type Credentials = Connection['credentials']

/** A token is not used in its last moments, in which it could end on the way. */
const SPARE_MS = 30_000

interface Held {
  token: string
  endsAt: number
}

/** Holds a token, in memory alone, until it is about to end or is refused. It is fetched once, however many requests want it. */
export function tokenCredentials(getToken: () => UserToken | Promise<UserToken>): Credentials {
  let held: Promise<Held> | undefined
  const fetchToken = () => {
    const asked = Promise.resolve().then(getToken).then(toHeld)
    held = asked
    asked.catch(() => {
      if (held === asked) held = undefined
    })
    return asked
  }
  const get = async () => {
    const kept = await held
    return (kept !== undefined && kept.endsAt > Date.now() ? kept : await fetchToken()).token
  }
  return {
    get,
    async renew(refused) {
      if ((await held)?.token === refused) held = undefined
      return get()
    },
  }
}

function toHeld(answer: UserToken): Held {
  const { token, expiresAt } = typeof answer === 'string' ? { token: answer } : answer
  if (typeof token !== 'string' || token === '') throw noToken()
  const endsAt = Date.parse(expiresAt ?? '') - SPARE_MS
  // A fresh one that seems to be over: it is short, or the clock of this device is wrong. Then it ends when it is refused.
  return { token, endsAt: endsAt > Date.now() ? endsAt : Number.POSITIVE_INFINITY }
}

const noToken = () => new ReparteeError('unauthorized', 'The server of the page gave no token.', { status: 401 })

/** Asks the server of the page, which knows by its cookie who is signed in. */
export const tokenFrom = (url: string) => async (): Promise<UserToken> => {
  const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', headers: { accept: 'application/json' } })
  if (response.ok) return response.json()
  // Its own failure may pass, and is tried again; a refusal does not.
  if (response.status >= 500) throw new Error(`The server of the page answered with ${response.status}.`)
  throw noToken()
}
