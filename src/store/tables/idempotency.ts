import { condition, type Database, type Statement, statement, type Value } from '../database.ts'

/** A request that claims its Idempotency-Key. */
export interface ClaimRow {
  apiKeyId: string
  keyHash: string
  fingerprint: string
  agentId: string
  /** The end user whose text the response will contain, if it belongs to no session; otherwise ''. */
  userId: string
  /** Distinguishes this attempt from others with the same key. */
  claim: string
  claimedUntil: number
  createdAt: number
}

export interface AnswerRow {
  fingerprint: string
  /** When the request came in. */
  createdAt: number
  /** Null while the request is being worked on. */
  status: number | null
  answer: string | null
}

const IS_BEING_DELETED =
  "EXISTS (SELECT 1 FROM purge p WHERE p.agent_id = kept_answer.agent_id AND p.session_id IN (kept_answer.session_id, ''))"
const CLAIM = `INSERT INTO kept_answer (api_key_id, key_hash, fingerprint, agent_id, session_id, user_id, claim, claimed_until, created_at)
  VALUES ($1, $2, $3, $4, '', $9, $5, $6, $7)
  ON CONFLICT (api_key_id, key_hash) DO UPDATE SET fingerprint = $3, agent_id = $4, user_id = $9, claim = $5, claimed_until = $6,
    session_id = CASE WHEN kept_answer.answer IS NULL AND kept_answer.fingerprint = $3 THEN kept_answer.session_id ELSE '' END, status = NULL, answer = NULL, created_at = $7
  WHERE CASE WHEN kept_answer.answer IS NULL THEN kept_answer.claimed_until < $7 ELSE kept_answer.created_at < $8 OR ${IS_BEING_DELETED} END RETURNING session_id`

/** A successful claim. */
export interface Claimed {
  /** The session that an earlier, interrupted attempt created; '' if there is none. */
  begunSessionId: string
}

/** Claims a key. If that fails, resolves to the stored response or the other claim. Ignores a response from before `expiredBefore`. */
export async function claimKey(db: Database, c: ClaimRow, expiredBefore: number): Promise<Claimed | AnswerRow> {
  const claim = statement(
    CLAIM,
    ...([
      c.apiKeyId,
      c.keyHash,
      c.fingerprint,
      c.agentId,
      c.claim,
      c.claimedUntil,
      c.createdAt,
      expiredBefore,
      c.userId,
    ] as const),
  )
  const [made] = await db.write([claim])
  if (made!.length > 0) return { begunSessionId: made![0]!.session_id as string }
  const sql = 'SELECT fingerprint, created_at, status, answer FROM kept_answer WHERE api_key_id = $1 AND key_hash = $2'
  const [row] = await db.read(sql, [c.apiKeyId, c.keyHash])
  // Released between the two statements: the next attempt can claim it.
  if (row === undefined) return { fingerprint: c.fingerprint, createdAt: c.createdAt, status: null, answer: null }
  return {
    fingerprint: row.fingerprint as string,
    createdAt: row.created_at as number,
    status: row.status as number | null,
    answer: row.answer as string | null,
  }
}

/** The session or user with which a stored response is deleted; '' for none. */
export interface AnswerOwner {
  sessionId: string
  /** The end user whose text it contains, if it belongs to no session. */
  userId: string
}

/** Stores the response in the claimed row, in the transaction of the request's effect. */
export const storeAnswer = (c: ClaimRow, { sessionId, userId }: AnswerOwner, status: number, answer: string): Statement =>
  statement(
    'UPDATE kept_answer SET session_id = $4, user_id = $5, status = $6, answer = $7 WHERE api_key_id = $1 AND key_hash = $2 AND claim = $3',
    ...([c.apiKeyId, c.keyHash, c.claim, sessionId, userId, status, answer] as const),
  )

/** Stores the session that the request creates, in the same transaction: after a crash the next attempt finds it. */
export const noteSession = (c: ClaimRow, sessionId: string): Statement =>
  statement(
    'UPDATE kept_answer SET session_id = $4 WHERE api_key_id = $1 AND key_hash = $2 AND claim = $3',
    ...([c.apiKeyId, c.keyHash, c.claim, sessionId] as const),
  )

/** Condition: no other request has claimed the key. */
export const isClaimed = (c: ClaimRow): Statement =>
  condition(
    'SELECT claim FROM kept_answer WHERE api_key_id = $1 AND key_hash = $2 AND claim = $3',
    c.apiKeyId,
    c.keyHash,
    c.claim,
  )

/** Releases a key whose request has no response to store. */
export async function releaseClaim(db: Database, c: ClaimRow): Promise<void> {
  const sql = 'DELETE FROM kept_answer WHERE api_key_id = $1 AND key_hash = $2 AND claim = $3 AND answer IS NULL'
  await db.write([statement(sql, c.apiKeyId, c.keyHash, c.claim)])
}

/** Releases the claims that match a condition. Their session ids stay for the next attempt. */
export const freeClaims = (condition: string, ...params: Value[]): [Statement, Statement] => [
  statement(`DELETE FROM kept_answer WHERE answer IS NULL AND session_id = '' AND ${condition}`, ...params),
  statement(
    `UPDATE kept_answer SET claimed_until = 0 WHERE answer IS NULL AND session_id <> '' AND claimed_until > 0 AND ${condition}`,
    ...params,
  ),
]

/** Releases the claims that expired before a time. */
export async function releaseLapsedClaims(db: Database, before: number): Promise<void> {
  await db.write(freeClaims('claimed_until < $1', before))
}

/** Rows that one transaction deletes: few enough that other requests do not wait noticeably. */
const SLICE_ROWS = 50
const SLICE_BYTES = 1_000_000

/** Deletes the first rows that match a condition, at least one. */
const forgetWhere = (condition: string): string => `DELETE FROM kept_answer WHERE (api_key_id, key_hash) IN
  (SELECT api_key_id, key_hash FROM
    (SELECT api_key_id, key_hash, sum(bytes) OVER (ORDER BY n) AS total, n FROM
      (SELECT api_key_id, key_hash, bytes, row_number() OVER () AS n FROM
        (SELECT api_key_id, key_hash, coalesce(octet_length(answer), 0) AS bytes FROM kept_answer
          WHERE ${condition} LIMIT ${SLICE_ROWS}) first) numbered) counted
  WHERE total <= ${SLICE_BYTES} OR n = 1) RETURNING claim`
const FORGET_OLD = forgetWhere('created_at < $1 AND (answer IS NOT NULL OR claimed_until < $1)')
// The second condition on the user makes SQLite use the partial index.
const FORGET_OF_USER = forgetWhere("agent_id = $1 AND user_id = $2 AND user_id <> ''")

/** Deletes a slice of the responses stored before a time. Resolves to their number, 0 if there are none. */
export async function forgetAnswers(db: Database, before: number): Promise<number> {
  const [rows] = await db.write([statement(FORGET_OLD, before)], { long: true })
  return rows!.length
}

/** Deletes a slice of a user's responses that belong to no session. Resolves to their number, 0 if there are none. */
export async function forgetAnswersOf(db: Database, agentId: string, userId: string): Promise<number> {
  const [rows] = await db.write([statement(FORGET_OF_USER, agentId, userId)], { long: true })
  return rows!.length
}
