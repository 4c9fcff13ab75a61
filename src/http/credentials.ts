import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../chat/key-ring.ts'

const BEARER = /^Bearer +(\S+)$/i

/**
 * The one key of a request: `X-API-Key`, or `Authorization: Bearer`. Throws `unauthorized` where there is none, or more than one.
 * Looks at the raw headers, because Node joins two of the same name.
 */
export function readKey({ rawHeaders }: IncomingMessage): string {
  let found: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase()
    if (name !== 'x-api-key' && name !== 'authorization') continue
    if (found !== undefined) throw unauthorized()
    const value = rawHeaders[i + 1]!
    found = name === 'x-api-key' ? value : (BEARER.exec(value)?.[1] ?? '')
  }
  if (found === undefined) throw unauthorized()
  return found
}
