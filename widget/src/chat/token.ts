import { ReparteeError, type UserToken } from 'repartee-client'

/** A server that says nothing for so long does not answer any more; the token is asked for anew. */
const PATIENCE_MS = 20_000

/** Asks the server of the page, which knows by its cookie who is signed in. */
export const tokenFrom = (url: string) => async (): Promise<UserToken> => {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), PATIENCE_MS)
  try {
    const headers = { accept: 'application/json' }
    const response = await fetch(url, { credentials: 'same-origin', cache: 'no-store', headers, signal: controller.signal })
    if (response.ok) return await response.json()
    // Its own failure may pass, and is tried again; a refusal does not.
    if (response.status >= 500) throw new Error(`The server of the page answered with ${response.status}.`)
    throw new ReparteeError('unauthorized', 'The server of the page gave no token.', { status: response.status })
  } finally {
    clearTimeout(timer)
  }
}
