import type { IncomingMessage } from 'node:http'
import { unauthorized } from '../../access/key-cache.ts'
import { isKeyLike } from '../../access/key-format.ts'
import { isTokenLike } from '../../access/user-token.ts'
import { ReparteeError } from '../../core/errors.ts'

const BEARER = /^Bearer +(\S+)$/i

/**
 * Returns the one credential of a request, from `X-API-Key` or `Authorization: Bearer`. An `Authorization` header for another service, such as Basic for a
 * proxy, is ignored next to `X-API-Key`. Throws `unauthorized` if there is no credential, if two differ, or if a header is repeated.
 */
export function readKey({ rawHeaders }: IncomingMessage): string {
  const apiKey = single(rawHeaders, 'x-api-key')
  const bearer = BEARER.exec(single(rawHeaders, 'authorization') ?? '')?.[1]
  const key = apiKey ?? bearer
  if (key === undefined) throw unauthorized()
  if (bearer !== undefined && bearer !== key && isCredential(bearer)) throw twoCredentials()
  return key
}

/** Reads the raw headers, because Node joins or drops repeated ones. */
function single(rawHeaders: string[], name: string): string | undefined {
  let value: string | undefined
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length !== name.length || rawHeaders[i]!.toLowerCase() !== name) continue
    if (value !== undefined) throw unauthorized()
    value = rawHeaders[i + 1]!
  }
  return value
}

/** Returns true for text in the format of an API key or user token of this service, valid or not. */
const isCredential = (text: string): boolean => isKeyLike(text) || isTokenLike(text)

const twoCredentials = () =>
  new ReparteeError(
    'unauthorized',
    'Two different credentials were sent. Send one: in the header X-API-Key, or as Authorization: Bearer.',
  )
