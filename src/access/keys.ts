import type { ApiKey, KeyBudget, Scope } from '../core/api-key.ts'
import { invalid, keyNotFound, ReparteeError } from '../core/errors.ts'
import { invalidCursor, type Page, type PageInput, toPage } from '../core/page.ts'
import { findAgent } from '../store/tables/agents.ts'
import * as store from '../store/tables/keys.ts'
import { auditLocal } from './audit.ts'
import type { AccessDeps } from './deps.ts'
import { hashKey, makeKey, shownPrefix } from './key-format.ts'

export interface NewKey {
  name: string
  scopes: Scope[]
  agentIds?: string[] | undefined
  expiresAt?: string | undefined
  budget?: Partial<KeyBudget> | undefined
}

/** A key's record and its secret, which cannot be shown again. */
export interface IssuedKey {
  key: ApiKey
  secret: string
}

type KeyDeps = Pick<AccessDeps, 'db' | 'clock' | 'newId'>

export async function createKey(deps: KeyDeps, { name, scopes, agentIds, expiresAt, budget }: NewKey): Promise<IssuedKey> {
  const expiry = expiresAt === undefined ? null : Date.parse(expiresAt)
  if (expiry !== null && expiry <= deps.clock()) throw invalid('body.expiresAt', 'must be in the future')
  const agents = agentIds && [...new Set(agentIds.map((id) => id.toLowerCase()))]
  for (const [i, id] of (agents ?? []).entries()) {
    if ((await findAgent(deps.db, id)) === undefined) throw invalid(`body.agentIds[${i}]`, 'names no agent')
  }
  const issued = issue(deps, { name, scopes, agentIds: agents ?? null, expiresAt: expiry, budget: toBudget(budget) })
  await store.insertKey(deps.db, issued.key)
  return issued
}

function issue(
  { clock, newId }: KeyDeps,
  rights: Pick<ApiKey, 'name' | 'scopes' | 'agentIds' | 'expiresAt' | 'budget'>,
): IssuedKey {
  const secret = makeKey()
  return { key: toRecord(secret, newId(), clock(), { ...rights, fixed: false }), secret }
}

function toBudget({ tokensPerDay = null, costPerDay = null }: Partial<KeyBudget> = {}): KeyBudget | null {
  return tokensPerDay === null && costPerDay === null ? null : { tokensPerDay, costPerDay }
}

const toRecord = (
  secret: string,
  id: string,
  now: number,
  rights: Pick<ApiKey, 'name' | 'scopes' | 'agentIds' | 'expiresAt' | 'budget' | 'fixed'>,
): ApiKey => ({
  ...rights,
  id,
  hash: hashKey(secret),
  prefix: shownPrefix(secret),
  lastUsedAt: null,
  createdAt: now,
})

function endKey({ keys, peers }: AccessDeps, keyId: string, at: number): void {
  keys.ends(keyId, at)
  peers.announce({ changed: true })
}

/** Ends each of these keys that another replica revoked or gave an expiry time. */
export async function endLostKeys({ db, keys, clock }: AccessDeps, keyIds: Iterable<string>): Promise<void> {
  for (const id of keyIds) {
    const key = await store.findKey(db, id)
    if (key === undefined) keys.ends(id, clock())
    else if (key.expiresAt !== null) keys.ends(id, key.expiresAt)
  }
}

/** Revokes a key at once. */
export async function deleteKey(deps: AccessDeps, keyId: string): Promise<void> {
  await getChangeable(deps, keyId)
  const found = await store.deleteKey(deps.db, keyId).catch(forgetting(deps))
  endKey(deps, keyId, deps.clock())
  if (!found) throw keyNotFound()
}

/** Creates a key with the same rights. The old key expires after the overlap. */
export async function rollKey(deps: AccessDeps, keyId: string, overlapSeconds: number): Promise<IssuedKey> {
  const old = await getChangeable(deps, keyId)
  const issued = issue(deps, old)
  const end = deps.clock() + overlapSeconds * 1000
  const found = await store.rollKey(deps.db, keyId, end, issued.key).catch(forgetting(deps))
  endKey(deps, keyId, end)
  if (!found) throw keyNotFound()
  return issued
}

/** Clears the key cache after an error, because the change may have been written and only the acknowledgement lost. */
const forgetting =
  ({ keys }: AccessDeps) =>
  (error: unknown): never => {
    keys.forget()
    throw error
  }

/** Rejects the key that the configuration sets, which can only be changed there. */
async function getChangeable(deps: AccessDeps, keyId: string): Promise<ApiKey> {
  const key = await store.findKey(deps.db, keyId)
  if (key === undefined) throw keyNotFound()
  if (key.fixed) throw new ReparteeError('forbidden', 'This key is set by REPARTEE_ADMIN_KEY and can only be changed there.')
  return key
}

export async function listKeys(deps: AccessDeps, { limit, cursor }: PageInput): Promise<Page<ApiKey>> {
  const after = cursor === undefined ? undefined : await store.findKey(deps.db, cursor)
  if (cursor !== undefined && after === undefined) throw invalidCursor('a key')
  const [items, total] = await Promise.all([store.listKeys(deps.db, after, limit + 1), store.countKeys(deps.db)])
  return toPage(items, limit, total)
}

/** Runs at every start: applies `REPARTEE_ADMIN_KEY`, or creates a key if there is none. Resolves to the new key, to be shown once, or undefined. */
export async function ensureAdminKey(deps: KeyDeps, configured: string | undefined): Promise<string | undefined> {
  if (configured !== undefined) {
    const existing = await store.findKeyByHash(deps.db, hashKey(configured))
    const rights = {
      name: 'REPARTEE_ADMIN_KEY',
      scopes: ['admin'] as Scope[],
      agentIds: null,
      expiresAt: null,
      budget: null,
      fixed: true,
    }
    if (existing?.fixed) return undefined
    const key = toRecord(configured, deps.newId(), deps.clock(), rights)
    await store.replaceFixedKey(deps.db, key)
    await auditLocal(deps, 'createKey', key.id)
    return undefined
  }
  await store.deleteFixedKeys(deps.db)
  if ((await store.countKeys(deps.db)) > 0) return undefined
  const { key, secret } = issue(deps, { name: 'admin', scopes: ['admin'], agentIds: null, expiresAt: null, budget: null })
  if (!(await store.insertFirstKey(deps.db, key))) return undefined
  await auditLocal(deps, 'createKey', key.id)
  return secret
}
