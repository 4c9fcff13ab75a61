import type { Message, TurnState } from '../../core/message.ts'
import { type Database, type Statement, statement, type Value } from '../database.ts'
import { NEWEST_VERSION } from './messages.ts'
import { isFirst, leaveFirst, type WaitingPosition } from './send-queue.ts'

/** A turn that runs: where, and the lease of the session that it holds. What was leased to another since cannot be written by it. */
export interface TurnPlace {
  agentId: string
  sessionId: string
  lease: string
}

/** A reply as it is put down. `markdown` where `content` is HTML; `detail` is what goes with it, as JSON. */
export interface StoredReply extends Message {
  markdown: string | null
  model: string
  detail: string | null
  /** Of the turn; null where it is not known. */
  tookMs: number | null
  /** Whether the knowledge base held the answer; null where that is not known. */
  answered: boolean | null
}

// Behind a guard that the session holds as many messages as was thought, so that their places are known.
const APPEND = `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at, turn) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
const APPEND_REPLY = `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at, markdown, model, detail, took_ms, answered)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
const toFlag = (value: boolean | null): number | null => (value === null ? null : Number(value))
const SET_TURN =
  'UPDATE message SET turn = $4, detail = $6 WHERE agent_id = $1 AND session_id = $2 AND id = $3 AND turn = $5 RETURNING id'
const setTurn = (p: TurnPlace, messageId: string, from: TurnState, to: TurnState, detail: string | null = null) =>
  statement(SET_TURN, p.agentId, p.sessionId, messageId, to, from, detail)

/** The counter on the session's row is raised first: two appends at once cannot take one number, on any engine. */
const BEGIN = `UPDATE session SET message_count = message_count + 1, last_message_at = $3, lease = $4, lease_until = $5
  WHERE agent_id = $1 AND id = $2 AND lease IS NULL AND message_count = $6`

/**
 * How a turn takes its session: until when, unless it says that it still runs; and how many messages it has read there. `queue` where other
 * processes serve the session, too, and sends of theirs may have come before.
 */
export interface Hold {
  leaseUntil: number
  messages: number
  queue?: WaitingPosition | undefined
  /** What must hold besides. */
  condition?: Statement[]
}

/** The guard of a turn's begin; behind it, what takes the turn out of the queue that it waited in. */
function takeSession(
  sql: string,
  params: Value[],
  { agentId, sessionId }: TurnPlace,
  { queue, condition = [] }: Hold,
): [Statement, ...Statement[]] {
  if (queue === undefined) return [statement(`${sql} RETURNING id`, ...params), ...condition]
  const first = `${sql} AND ${isFirst(params.length + 1)} RETURNING id`
  return [
    statement(first, ...params, queue.replica, queue.now),
    ...(queue.position === undefined ? [] : [leaveFirst(agentId, sessionId, queue.replica)]),
    ...condition,
  ]
}

/** Puts the user's message down as a running turn. Resolves to false where the session is gone, leased, or longer than was read. */
export async function beginTurn(db: Database, place: TurnPlace, hold: Hold, m: Message): Promise<boolean> {
  const { agentId, sessionId, lease } = place
  const params = [agentId, sessionId, m.createdAt, lease, hold.leaseUntil, hold.messages]
  const insert = statement(APPEND, agentId, sessionId, hold.messages + 1, m.id, m.role, m.content, m.createdAt, 'running')
  return (await db.writeIf([...takeSession(BEGIN, params, place, hold), insert])) !== undefined
}

const TAKE_LEASE = `UPDATE session SET lease = $3, lease_until = $4
  WHERE agent_id = $1 AND id = $2 AND lease IS NULL AND message_count = $5`
const takeLease = (place: TurnPlace, hold: Hold) =>
  takeSession(TAKE_LEASE, [place.agentId, place.sessionId, place.lease, hold.leaseUntil, hold.messages], place, hold)

/** Takes a failed turn, the session's last, up again. Resolves to false where the session is gone, leased, or longer than was read. */
export async function continueTurn(db: Database, place: TurnPlace, hold: Hold, messageId: string): Promise<boolean> {
  return (await db.writeIf([...takeLease(place, hold), setTurn(place, messageId, 'failed', 'running')])) !== undefined
}

/** Leases the session to a reply that is made anew; what the history holds stays as it is until then. Resolves to false as the others do. */
export async function leaseSession(db: Database, place: TurnPlace, hold: Hold): Promise<boolean> {
  return (await db.writeIf(takeLease(place, hold))) !== undefined
}

const END_WITH_REPLY = `UPDATE session SET message_count = message_count + 1, last_message_at = $3, lease = NULL, lease_until = NULL
  WHERE agent_id = $1 AND id = $2 AND lease = $4 AND message_count = $5 RETURNING id`
const SETTLE = `UPDATE message SET turn = $4 WHERE agent_id = $1 AND session_id = $2 AND seq = $3 AND turn = 'running'`
const END = 'UPDATE session SET lease = NULL, lease_until = NULL WHERE agent_id = $1 AND id = $2 AND lease = $3 RETURNING id'
const end = ({ agentId, sessionId, lease }: TurnPlace) => statement(END, agentId, sessionId, lease)

/**
 * Ends a running turn with its reply, in one transaction with whatever is to be written alongside. `seq`: the place of the message that it answers,
 * the last of the session. Resolves to false where the session is gone, or leased to another.
 */
export async function completeTurn(
  db: Database,
  place: TurnPlace,
  seq: number,
  state: 'done' | 'cancelled',
  r: StoredReply,
  alongside: Statement[] = [],
): Promise<boolean> {
  // The session's row comes first, as the guard: its messages may outlive it for a moment while they are being deleted.
  const { agentId, sessionId, lease } = place
  const raise = statement(END_WITH_REPLY, agentId, sessionId, r.createdAt, lease, seq)
  const settle = statement(SETTLE, agentId, sessionId, seq, state)
  const { id, role, content, createdAt, markdown, model, detail, tookMs } = r
  const values = [id, role, content, createdAt, markdown, model, detail, tookMs, toFlag(r.answered)]
  const insert = statement(APPEND_REPLY, agentId, sessionId, seq + 1, ...values)
  return (await db.writeIf([raise, settle, insert, ...alongside])) !== undefined
}

/** Ends a running turn without a reply; `detail` says why, as JSON. Resolves to false where the session is gone, or leased to another. */
export async function abandonTurn(
  db: Database,
  place: TurnPlace,
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

/**
 * Puts a reply in the place of the one with the same id, which becomes a version; the turn of the message that it answers is done, also
 * where it was cancelled before. Resolves to false where the session is gone, or leased to another.
 */
export async function replaceReply(
  db: Database,
  place: TurnPlace,
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

/** Gives the session back with its history as it was. Resolves to false where it is gone, or leased to another. */
export async function releaseSession(db: Database, place: TurnPlace): Promise<boolean> {
  return (await db.writeIf([end(place)])) !== undefined
}

/** Whether a turn holds the session. */
export async function isLeased(db: Database, agentId: string, sessionId: string): Promise<boolean> {
  const [row] = await db.read('SELECT id FROM session WHERE agent_id = $1 AND id = $2 AND lease IS NOT NULL', [
    agentId,
    sessionId,
  ])
  return row !== undefined
}

const RENEW = 'UPDATE session SET lease_until = $4 WHERE agent_id = $1 AND id = $2 AND lease = $3'

export async function renewLeases(db: Database, places: TurnPlace[], leaseUntil: number): Promise<void> {
  if (places.length === 0) return
  await db.write(places.map((p) => statement(RENEW, p.agentId, p.sessionId, p.lease, leaseUntil)))
}

const LAPSED = 'SELECT agent_id, id FROM session WHERE lease IS NOT NULL AND lease_until < $1 LIMIT 1'

/**
 * Turns whose process died, or could not write: from this time on they are failed, and can be continued. `settler` is an id that nothing else
 * has; `alongside` is written while it holds their sessions. Resolves to how many.
 */
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
 * Fails the turns whose lease passes a condition; the last but one of the statements returns them. The sessions are leased to the settler first, so that
 * a lease that comes to pass it later is not ended with its turn still running. A session that another transaction holds is settled the next time, because the process of
 * that transaction may be suspended.
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
