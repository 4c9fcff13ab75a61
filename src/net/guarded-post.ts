import type { IncomingMessage } from 'node:http'
import { FetchError } from './fetch-error.ts'
import { type FetchRules, open, toFetchable } from './guarded-fetch.ts'

export interface PostInput {
  url: string
  headers: Record<string, string>
  body: string
  signal: AbortSignal
}

const MAX_BODY_BYTES = 65_536
/** A receiver that sends more must not occupy a connection. */
const BODY_WITHIN_MS = 1_000

/**
 * Sends JSON to a public URL, under the same rules as `guardedFetch`. Resolves to the status of the answer, whose body is discarded.
 * Does not follow redirects, because they lead to another receiver. Throws `FetchError`.
 */
export async function guardedPost(rules: FetchRules, { url, headers, body, signal }: PostInput): Promise<number> {
  const timeout = AbortSignal.timeout(rules.timeoutMs)
  const response: IncomingMessage = await open(
    rules,
    toFetchable(url),
    { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } },
    AbortSignal.any([timeout, signal]),
  )
  await discard(response)
  if (response.statusCode === undefined) throw new FetchError('fetch_failed', 'was not answered in HTTP')
  return response.statusCode
}

/** Reads a short body to its end, so that the receiver sees no broken connection. Cuts off a body that is longer in bytes or time. */
function discard(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0
    const end = () => {
      clearTimeout(timer)
      response.destroy()
      resolve()
    }
    const timer = setTimeout(end, BODY_WITHIN_MS)
    response.on('error', end)
    response.on('close', end)
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > MAX_BODY_BYTES) end()
    })
  })
}
