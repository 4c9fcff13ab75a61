import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ApiKey } from '../core/api-key.ts'
import type { Database } from '../store/database.ts'
import { keepTokenSecret } from '../store/tables/token-secret.ts'

const PREFIX = 'rpu_'
const UUID_BYTES = 16
const TIME_BYTES = 6
const CLAIMS_BYTES = 3 * UUID_BYTES + TIME_BYTES
const SIGNATURE_BYTES = 32
const SHAPE = new RegExp(`^${PREFIX}[\\w-]{${Math.ceil(((CLAIMS_BYTES + SIGNATURE_BYTES) * 4) / 3)}}$`)

/** The claims of a token: its holder may act as this user of this agent, with the rights of an API key. */
export interface UserClaims {
  keyId: string
  agentId: string
  userId: string
  /** In milliseconds since 1970. */
  expiresAt: number
}

/** The key that user tokens are signed with. No request returns it, so the holder of an API key cannot sign. */
export type TokenSecret = Buffer

/** Combines the secret in the database, created at the first start, with the configured one. A copy of the database alone cannot make tokens. */
export async function openTokenSecret(db: Database, configured = ''): Promise<TokenSecret> {
  const stored = await keepTokenSecret(db, randomBytes(32).toString('hex'))
  return createHmac('sha256', stored).update(configured).digest()
}

/** Returns `rpu_` with the claims and their HMAC-SHA-256 in base64url. The API key's hash is signed too, so a token ends with its key. */
export function makeUserToken(claims: UserClaims, key: Pick<ApiKey, 'hash'>, secret: TokenSecret): string {
  const bytes = Buffer.alloc(CLAIMS_BYTES)
  for (const [i, id] of [claims.keyId, claims.agentId, claims.userId].entries())
    bytes.write(id.replaceAll('-', ''), i * UUID_BYTES, 'hex')
  bytes.writeUIntBE(claims.expiresAt, 3 * UUID_BYTES, TIME_BYTES)
  return PREFIX + Buffer.concat([bytes, signatureOf(bytes, key, secret)]).toString('base64url')
}

export const isTokenLike = (text: string): boolean => SHAPE.test(text)

/** Reads the claims of a well-formed token. Only `isSigned` checks whether they are genuine. */
export function readClaims(token: string): UserClaims {
  const bytes = bytesOf(token)
  const idAt = (i: number): string =>
    bytes.toString('hex', i * UUID_BYTES, (i + 1) * UUID_BYTES).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { keyId: idAt(0), agentId: idAt(1), userId: idAt(2), expiresAt: bytes.readUIntBE(3 * UUID_BYTES, TIME_BYTES) }
}

export function isSigned(token: string, key: Pick<ApiKey, 'hash'>, secret: TokenSecret): boolean {
  const bytes = bytesOf(token)
  // The last character has two unused bits: only the canonical encoding is accepted.
  if (bytes.toString('base64url') !== token.slice(PREFIX.length)) return false
  return timingSafeEqual(bytes.subarray(CLAIMS_BYTES), signatureOf(bytes.subarray(0, CLAIMS_BYTES), key, secret))
}

const bytesOf = (token: string): Buffer => Buffer.from(token.slice(PREFIX.length), 'base64url')

const signatureOf = (claims: Buffer, { hash }: Pick<ApiKey, 'hash'>, secret: TokenSecret): Buffer =>
  createHmac('sha256', secret).update(hash).update(claims).digest()
