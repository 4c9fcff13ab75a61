import { type ApiKey, MAX_TOKEN_SECONDS } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Clock } from '../core/ports/ports.ts'
import type { Database } from '../store/database.ts'
import { findKey, findKeyByHash, markKeyUsed } from '../store/tables/keys.ts'
import { hashKey, isKeyLike } from './key-format.ts'
import { isSigned, isTokenLike, makeUserToken, readClaims, type TokenSecret, type UserClaims } from './user-token.ts'

/** `lastUsedAt` is accurate to the minute, because a write for every request would double the cost of reads. */
const MARK_EVERY_MS = 60_000
const MAX_HELD = 10_000
/** The largest difference between the clocks of processes that share a database. */
const CLOCK_SKEW_MS = 300_000

/** Identifies callers and caches valid keys. Keys are found by their hash, so the lookup time reveals nothing about a key. */
export class KeyCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #held = new Map<string, ApiKey>()
  /** Keys by id, to check user tokens. */
  readonly #heldById = new Map<string, ApiKey>()
  /** Hashes of valid keys, by key. Checking and hashing a key takes 3 % of the time of a small request. */
  readonly #hashes = new Map<string, string>()
  /** Keys that exist only in this process and are never stored. */
  readonly #own = new Map<string, ApiKey>()
  #generation = 0
  #isCurrent: () => Promise<void> | undefined = () => undefined
  #tellEnd: (keyId: string, at: number) => void = () => {}

  readonly #tokenSecret: TokenSecret

  constructor(db: Database, clock: Clock, tokenSecret: TokenSecret) {
    this.#db = db
    this.#clock = clock
    this.#tokenSecret = tokenSecret
  }

  /** Adds a key that is valid as long as this process runs. */
  adopt(key: ApiKey): void {
    this.#own.set(key.hash, key)
  }

  /** Returns true for a key that was added by `adopt`. */
  isOwn({ hash }: ApiKey): boolean {
    return this.#own.has(hash)
  }

  /** Resolves to the record of a key. Throws the same `unauthorized` for every fault. `catchUp` replaces the check whether the cache is current. */
  async identify(key: string, catchUp?: () => Promise<unknown>): Promise<ApiKey> {
    if (isTokenLike(key)) return this.#identifyUser(key, catchUp)
    const knownHash = this.#hashes.get(key)
    if (knownHash === undefined && !isKeyLike(key)) throw unauthorized()
    const hash = knownHash ?? hashKey(key)
    await (catchUp ?? this.#isCurrent)()
    const found = this.#held.get(hash) ?? this.#own.get(hash) ?? (await this.#find(hash))
    const now = this.#clock()
    if (found === undefined || (found.expiresAt !== null && found.expiresAt <= now)) throw unauthorized()
    if (knownHash === undefined) this.#rememberHash(key, hash)
    this.#markUsed(found, now)
    return found
  }

  makeToken(key: ApiKey, claims: UserClaims): string {
    return makeUserToken(claims, key, this.#tokenSecret)
  }

  async #identifyUser(token: string, catchUp: (() => Promise<unknown>) | undefined): Promise<ApiKey> {
    await (catchUp ?? this.#isCurrent)()
    const { keyId, agentId, userId, expiresAt } = readClaims(token)
    const key = this.#heldById.get(keyId) ?? (await this.#findById(keyId))
    const now = this.#clock()
    if (key === undefined || !isSigned(token, key, this.#tokenSecret)) throw unauthorized()
    if (expiresAt <= now || (key.expiresAt !== null && key.expiresAt <= now)) throw unauthorized()
    // A token must not grant more than its key may, no matter how it was made.
    if (!mayGive(key, agentId) || expiresAt > now + MAX_TOKEN_SECONDS * 1_000 + CLOCK_SKEW_MS) throw unauthorized()
    this.#markUsed(key, now)
    return { ...key, scopes: ['chat'], agentIds: [agentId], expiresAt, userId }
  }

  /** Sets a check for keys that other processes change: it resolves when the cache is current. */
  checkWith(isCurrent: () => Promise<void>): void {
    this.#isCurrent = isCurrent
  }

  /** Calls back with the id of each key that is revoked or given an expiry time, and with that time. */
  onEnd(tell: (keyId: string, at: number) => void): void {
    this.#tellEnd = tell
  }

  ends(keyId: string, at: number): void {
    this.forget()
    this.#tellEnd(keyId, at)
  }

  /** Clears the cache. Must be called after every change of a key. */
  forget(): void {
    this.#generation++
    this.#held.clear()
    this.#heldById.clear()
    this.#hashes.clear()
  }

  async #find(hash: string): Promise<ApiKey | undefined> {
    const generation = this.#generation
    const key = await findKeyByHash(this.#db, hash)
    if (key === undefined) return undefined
    if (this.#held.size >= MAX_HELD) this.#held.clear()
    // A key that was revoked during the read must not be cached.
    if (generation === this.#generation) this.#held.set(hash, key)
    return key
  }

  async #findById(id: string): Promise<ApiKey | undefined> {
    const generation = this.#generation
    const key = [...this.#own.values()].find((own) => own.id === id) ?? (await findKey(this.#db, id))
    if (key === undefined) return undefined
    if (this.#heldById.size >= MAX_HELD) this.#heldById.clear()
    if (generation === this.#generation) this.#heldById.set(id, key)
    return key
  }

  #rememberHash(key: string, hash: string): void {
    if (this.#hashes.size >= MAX_HELD) this.#hashes.clear()
    this.#hashes.set(key, hash)
  }

  #markUsed(key: ApiKey, now: number): void {
    if (key.lastUsedAt !== null && now - key.lastUsedAt < MARK_EVERY_MS) return
    key.lastUsedAt = now
    if (this.#own.has(key.hash)) return
    markKeyUsed(this.#db, key.id, now).catch(() => {}) // only informative; the next use retries
  }
}

function mayGive({ scopes, agentIds }: ApiKey, agentId: string): boolean {
  const mayChat = scopes.includes('chat') || scopes.includes('admin')
  return mayChat && (agentIds === null || agentIds.includes(agentId))
}

export const unauthorized = () =>
  new ReparteeError('unauthorized', 'A valid API key is needed: in the header X-API-Key, or as Authorization: Bearer.')
