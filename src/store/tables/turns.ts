import type { Message, TurnState } from '../../core/message.ts'
import { type Database, type Statement, statement, type Value } from '../database.ts'
import { NEWEST_VERSION } from './messages.ts'
import { isFirst, leaveFirst, type WaitingPosition } from './processes/send-queue.ts'

/** A running turn with its lease of the session. It can no longer write after the session is leased to another. */
export interface TurnLease {
  agentId: string
  sessionId: string
  lease: string
}

/** A reply to store. `markdown` is set if `content` is HTML. `detail` is JSON. */
export interface StoredReply extends Message {
  markdown: string | null
  model: string
  detail: string | null
  /** Duration of the turn; null if unknown. */
  tookMs: number | null
  /** Whether the knowledge base contained the answer; null if unknown. */
  answered: boolean | null
}

// Follows a guard that checks the session's number of messages, so the position is known.
const APPEND = `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at, turn) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
const APPEND_REPLY = `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at, markdown, model, detail, took_ms, answered)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
const toFlag = (value: boolean | null): number | null => (value === null ? null : Number(value))
const SET_TURN =
  'UPDATE message SET turn = $4, detail = $6 WHERE agent_id = $1 AND session_id = $2 AND id = $3 AND turn = $5 RETURNING id'
const setTurn = (p: TurnLease, messageId: string, from: TurnState, to: TurnState, detail: string | null = null) =>
  statement(SET_TURN, p.agentId, p.sessionId, messageId, to, from, detail)

/** Raises the counter on the session's row first: two concurrent appends cannot get one number, on any engine. */
const BEGIN = `UPDATE session SET message_count = message_count + 1, last_message_at = $3, lease = $4, lease_until = $5
  WHERE agent_id = $1 AND id = $2 AND lease IS NULL AND message_count = $6`

/**
 * How a turn leases its session: until `leaseUntil` unless it renews the lease, if the session still has `messages` messages.
 * `queue` is set if other processes serve the session, too, and their sends may be first.
 */
export interface LeaseRequest {
  leaseUntil: number
  messages: number
  queue?: WaitingPosition | undefined
  /** Further conditions. */
  condition?: Statement[]
}

/** Returns the guard that starts a turn, then the statements that remove the turn from the queue and check the conditions. */
function takeSession(
  sql: string,
  params: Value[],
  { agentId, sessionId }: TurnLease,
  { queue, condition = [] }: LeaseRequest,
): [Statement, ...Statement[]] {
  if (queue === undefined) return [statement(`${sql} RETURNING id`, ...params), ...condition]
  const first = `${sql} AND ${isFirst(params.length + 1)} RETURNING id`
  return [
    statement(first, ...params, queue.replica, queue.now),
    ...(queue.position === undefined ? [] : [leaveFirst(agentId, sessionId, queue.replica)]),
    ...condition,
  ]
}

/** Stores the user's message as a running turn. Resolves to false if the session is gone, leased, or longer than was read. */
export async function beginTurn(db: Database, place: TurnLease, hold: LeaseRequest, m: Message): Promise<boolean> {
  const { agentId, sessionId, lease } = place
  const params = [agentId, sessionId, m.createdAt, lease, hold.leaseUntil, hold.messages]
  const insert = statement(APPEND, agentId, sessionId, hold.messages + 1, m.id, m.role, m.content, m.createdAt, 'running')
  return (await db.writeIf([...takeSession(BEGIN, params, place, hold), insert])) !== undefined
}

const TAKE_LEASE = `UPDATE session SET lease = $3, lease_until = $4
  WHERE agent_id = $1 AND id = $2 AND lease IS NULL AND message_count = $5`
const takeLease = (place: TurnLease, hold: LeaseRequest) =>
  takeSession(TAKE_LEASE, [place.agentId, place.sessionId, place.lease, hold.leaseUntil, hold.messages], place, hold)

/** Resumes the session's last turn, which failed. Resolves to false if the session is gone, leased, or longer than was read. */
export async function continueTurn(db: Database, place: TurnLease, hold: LeaseRequest, messageId: string): Promise<boolean> {
  return (await db.writeIf([...takeLease(place, hold), setTurn(place, messageId, 'failed', 'running')])) !== undefined
}

/** Leases the session to regenerate a reply. The history stays as it is until then. Resolves to false as `beginTurn` does. */
export async function leaseSession(db: Database, place: TurnLease, hold: LeaseRequest): Promise<boolean> {
  return (await db.writeIf(takeLease(place, hold))) !== undefined
}

const END_WITH_REPLY = `UPDATE session SET message_count = message_count + 1, last_message_at = $3, lease = NULL, lease_until = NULL
  WHERE agent_id = $1 AND id = $2 AND lease = $4 AND message_count = $5 RETURNING id`
const SETTLE = `UPDATE message SET turn = $4 WHERE agent_id = $1 AND session_id = $2 AND seq = $3 AND turn = 'running'`
const END = 'UPDATE session SET lease = NULL, lease_until = NULL WHERE agent_id = $1 AND id = $2 AND lease = $3 RETURNING id'
const end = ({ agentId, sessionId, lease }: TurnLease) => statement(END, agentId, sessionId, lease)

/**
 * Ends a running turn with its reply, in one transaction with `alongside`. `seq` is the position of the answered message, the session's last.
 * Resolves to false if the session is gone or leased to another.
 */
export async function completeTurn(
  db: Database,
  place: TurnLease,
  seq: number,
  state: 'done' | 'cancelled',
  r: StoredReply,
  alongside: Statement[] = [],
): Promise<boolean> {
  // The session's row comes first, as the guard: messages may briefly outlive their session while they are deleted.
  const { agentId, sessionId, lease } = place
  const raise = statement(END_WITH_REPLY, agentId, sessionId, r.createdAt, lease, seq)
  const settle = statement(SETTLE, agentId, sessionId, seq, state)
  const { id, role, content, createdAt, markdown, model, detail, tookMs } = r
  const values = [id, role, content, createdAt, markdown, model, detail, tookMs, toFlag(r.answered)]
  const insert = statement(APPEND_REPLY, agentId, sessionId, seq + 1, ...values)
  return (await db.writeIf([raise, settle, insert, ...alongside])) !== undefined
}

/** Ends a running turn without a reply. `detail` is the reason as JSON. Resolves to false if the session is gone or leased to another. */
export async function abandonTurn(
  db: Database,
  place: TurnLease,
  messageId: string,
  state: 'failed' | 'cancelled',
  detail: string,
  alongside: Statement[] = [],
): Promise<boolean> {
  return (await db.writeIf([end(place), setTurn(place, messageId, 'running', state, detail), ...alongside])) !== undefined
}

const KEEP_VERSION = `INSERT INTO message_version (agent_id, session_id, message_id, version, content, markdown, model, detail, feedback, replaced_at)
  SELECT agent_id, session_id, id, ${NEWEST_VERSION} + 1,
    content, markdown, model, detail, feedback, CAST($4 AS BIGINT) FROM message WHERE agent_id = $1 AND session_id = $2 AND id = $3`
const REPLACE = `UPDATE message SET content = $4, markdown = $5, model = $6, detail = $7, took_ms = $8, answered = $9, feedback = NULL
  WHERE agent_id = $1 AND session_id = $2 AND id = $3`

/** Replaces the reply with the same id, which becomes a version, and sets the answered turn to done. Resolves to false as `completeTurn` does. */
export async function replaceReply(
  db: Database,
  place: TurnLease,
  questionId: string,
  r: StoredReply,
  replacedAt: number,
  alongside: Statement[] = [],
): Promise<boolean> {
  const { agentId, sessionId } = place
  const keep = statement(KEEP_VERSION, agentId, sessionId, r.id, replacedAt)
  const replace = statement(
    REPLACE,
    agentId,
    sessionId,
    r.id,
    r.content,
    r.markdown,
    r.model,
    r.detail,
    r.tookMs,
    toFlag(r.answered),
  )
  const settle = setTurn(place, questionId, 'cancelled', 'done')
  return (await db.writeIf([end(place), keep, replace, settle, ...alongside])) !== undefined
}

/** Releases the session and leaves its history unchanged. Resolves to false if it is gone or leased to another. */
export async function releaseSession(db: Database, place: TurnLease): Promise<boolean> {
  return (await db.writeIf([end(place)])) !== undefined
}

/** Resolves to true if a turn leases the session. */
export async function isLeased(db: Database, agentId: string, sessionId: string): Promise<boolean> {
  const [row] = await db.read('SELECT id FROM session WHERE agent_id = $1 AND id = $2 AND lease IS NOT NULL', [
    agentId,
    sessionId,
  ])
  return row !== undefined
}

const RENEW = 'UPDATE session SET lease_until = $4 WHERE agent_id = $1 AND id = $2 AND lease = $3'

export async function renewLeases(db: Database, places: TurnLease[], leaseUntil: number): Promise<void> {
  if (places.length === 0) return
  await db.write(places.map((p) => statement(RENEW, p.agentId, p.sessionId, p.lease, leaseUntil)))
}

const LAPSED = 'SELECT agent_id, id FROM session WHERE lease IS NOT NULL AND lease_until < $1 LIMIT 1'

/** Fails turns whose process died or could not write, so that they can be continued. Parameters as in `failTurns`. Resolves to their number. */
export async function failLapsedTurns(
  db: Database,
  before: number,
  settler: string,
  alongside: Statement[] = [],
): Promise<number> {
  if ((await db.scan(LAPSED, [before])).length === 0) return 0
  const done = await db.writeIf(failTurns('lease_until < $1', [before], settler, alongside))
  return done?.[1 + alongside.length]?.length ?? 0
}

/**
 * Fails the turns whose lease matches a condition; the last but one statement returns them. The sessions are first leased to `settler`, a unique id, so that
 * a lease that matches later does not end with its turn still running. Skips sessions that another transaction locks: its process may be suspended.
 */
export function failTurns(condition: string, params: Value[], settler: string, alongside: Statement[]): Statement[] {
  const own = `$${params.length + 1}`
  // A running turn's message is the last of its session.
  return [
    statement(
      `UPDATE session SET lease = ${own} WHERE (agent_id, id) IN
        (SELECT agent_id, id FROM session WHERE lease IS NOT NULL AND ${condition} /* SKIP LOCKED */) RETURNING id`,
      ...params,
      settler,
    ),
    ...alongside,
    statement(
      `UPDATE message SET turn = 'failed' WHERE turn = 'running' AND (agent_id, session_id, seq) IN
        (SELECT agent_id, id, message_count FROM session WHERE lease IS NOT NULL AND lease = $1) RETURNING id`,
      settler,
    ),
    statement('UPDATE session SET lease = NULL, lease_until = NULL WHERE lease IS NOT NULL AND lease = $1', settler),
  ]
}
