import type { Database } from '../../src/store/database.ts'
import type { ClaimRow } from '../../src/store/tables/idempotency.ts'
import * as store from '../../src/store/tables/idempotency.ts'

/** Resolves to undefined if the claim succeeded, otherwise to the stored row. */
export async function claimKey(db: Database, claim: ClaimRow, expiredBefore: number): Promise<store.AnswerRow | undefined> {
  const kept = await store.claimKey(db, claim, expiredBefore)
  return 'begunSessionId' in kept ? undefined : kept
}

/** Returns a claim of an agent, with some fields changed. */
export const claimOf = (agentId: string, change: Partial<ClaimRow> = {}): ClaimRow => ({
  ...{ apiKeyId: 'k', keyHash: 'h', fingerprint: 'f', agentId, userId: '', claim: 'c', claimedUntil: 2000, createdAt: 1000 },
  ...change,
})
