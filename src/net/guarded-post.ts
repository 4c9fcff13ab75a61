import type { IncomingMessage } from 'node:http'
import { FetchError } from './fetch-error.ts'
import { type FetchRules, open, toFetchable } from './guarded-fetch.ts'

export interface PostInput {
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

/**
 * Sends JSON to a URL of the public internet, under the same rules as `guardedFetch`, and resolves to the status of the answer, whose body is not
 * read. A redirect is not followed: it would be another receiver. Throws `FetchError`.
 */
export async function guardedPost(rules: FetchRules, { url, headers, body, signal }: PostInput): Promise<number> {
  const timeout = AbortSignal.timeout(rules.timeoutMs)
  const response: IncomingMessage = await open(
    rules,
    toFetchable(url),
    { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } },
    AbortSignal.any([timeout, signal]),
  )
  // What else it says is taken in, or cut off in time, so that a receiver in the midst of it sees no broken connection.
  response.on('error', () => {}).resume()
  if (response.statusCode === undefined) throw new FetchError('fetch_failed', 'was not answered in HTTP')
  return response.statusCode
}
