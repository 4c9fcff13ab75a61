import { ReparteeError, type UserToken } from 'repartee-client'

/** After this much silence the request is aborted, and the token is requested again. */
const PATIENCE_MS = 20_000

/** Requests a token from the page's server, which identifies the signed-in user by a cookie. */
export const tokenFrom = (url: string) => async (): Promise<UserToken> => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), PATIENCE_MS)
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', headers, signal: controller.signal })
    if (response.ok) return await response.json()
    // A failure of the server can be transient, so it is retried. A rejection is final.
    if (response.status >= 500) throw new Error(`The server of the page answered with ${response.status}.`)
    throw new ReparteeError('unauthorized', 'The server of the page gave no token.', { status: response.status })
  } finally {
    clearTimeout(timer)
  }
}
