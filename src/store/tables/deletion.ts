import { Limiter } from '../../core/fairness/limiter.ts'
import { thenRest } from '../../core/fairness/pacer.ts'
import type { Session } from '../../core/session.ts'
import { type Database, type Statement, statement } from '../database.ts'
import { raiseGeneration } from './processes/replicas.ts'
import { countOneLess, deleteCounts } from './sessions.ts'

/** Rows of a table that one transaction deletes: few enough that other requests do not wait noticeably. */
const SLICE_ROWS = 500
const SLICE_BYTES = 1_000_000
/** Larger sessions are deleted later, one at a time: many deletions may come at once and share a transaction. */
const SMALL_MESSAGES = 20
const SMALL_BYTES = 65_536
/** Maximum rows in every other table of a small session. */
const SMALL_ROWS = 50
/** The first of `PARTS` are always deleted with the session: otherwise webhooks would still be notified. */
const PARTS_AT_ONCE = 1

const OF_SESSION = 'agent_id = $1 AND session_id = $2'
/** The tables of a session, each with its index key and the size of its text in bytes. */
const PARTS: readonly [table: string, key: string, bytes: string][] = [
  ['webhook_delivery', 'id', '0'],
  ['kept_answer', 'key_hash', sizeOf('answer')],
  ['summary', 'upto', sizeOf('text')],
  ['message_version', 'message_id, version', sizeOf('content', 'markdown', 'detail', 'feedback')],
  ['message', 'seq', sizeOf('content', 'markdown', 'detail', 'feedback')],
]

function sizeOf(...columns: string[]): string {
  return columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
}

/** Reads at most one row more than a small session has. */
const SIZE = `SELECT coalesce(sum(bytes), 0) AS bytes, coalesce(max(n), 0) AS most FROM (${PARTS.map(
  ([table, , bytes]) => `SELECT count(*) AS n, coalesce(sum(bytes), 0) AS bytes FROM
    (SELECT ${bytes} AS bytes FROM ${table} WHERE ${OF_SESSION} LIMIT ${SMALL_ROWS + 1}) ${table}_sizes`,
).join(' UNION ALL ')}) sizes`

/** Deletes the first rows by key, at least one. PostgreSQL would recompute a list of keys for each row if it expects few. */
const DELETE_SLICES = PARTS.map(
  ([table, key, bytes]) => `DELETE FROM ${table} WHERE ${OF_SESSION} AND (${key}) <= (SELECT ${key} FROM
    (SELECT ${key}, sum(bytes) OVER (ORDER BY ${key}) AS total, row_number() OVER (ORDER BY ${key}) AS n FROM
      (SELECT ${key}, ${bytes} AS bytes FROM ${table} WHERE ${OF_SESSION} ORDER BY ${key} LIMIT ${SLICE_ROWS}) first) counted
    WHERE total <= ${SLICE_BYTES} OR n = 1 ORDER BY n DESC LIMIT 1)`,
)

/** Session id of the mark that covers a whole agent. */
const WHOLE_AGENT = ''
const MARK = 'INSERT INTO purge (agent_id, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING'
const LAST_OF_SLICE = `SELECT max(id) FROM (SELECT id FROM session WHERE agent_id = $1 ORDER BY id LIMIT ${SLICE_ROWS}) first`
const MARK_SESSIONS = `INSERT INTO purge (agent_id, session_id)
  SELECT agent_id, id FROM session WHERE agent_id = $1 AND id <= (${LAST_OF_SLICE}) ON CONFLICT DO NOTHING`
const DELETE_SESSIONS = `DELETE FROM session WHERE agent_id = $1 AND id <= (${LAST_OF_SLICE})`
/** Returns no row if another process deleted everything: a new session may have the same id. Locks the mark until the slice is deleted. */
const HOLD_MARK = `UPDATE purge SET session_id = session_id WHERE ${OF_SESSION} RETURNING session_id`
const NOTHING_LEFT = PARTS.map(([table]) => `NOT EXISTS (SELECT 1 FROM ${table} WHERE ${OF_SESSION})`).join(' AND ')
/** Returns a row when everything is deleted. */
const UNMARK = `DELETE FROM purge WHERE ${OF_SESSION} AND ${NOTHING_LEFT} RETURNING session_id`
const UNMARK_AGENT = UNMARK.replace(' RETURNING', ' AND NOT EXISTS (SELECT 1 FROM session WHERE agent_id = $1) RETURNING')

/** Returns one step of a marked deletion. The last statement returns a row when nothing is left. */
function deleteSlices(agentId: string, sessionId: string): Statement[] {
  const isAgent = sessionId === WHOLE_AGENT
  return [
    ...(isAgent ? [statement(MARK_SESSIONS, agentId), statement(DELETE_SESSIONS, agentId)] : []),
    ...DELETE_SLICES.map((sql) => statement(sql, agentId, sessionId)),
    statement(isAgent ? UNMARK_AGENT : UNMARK, agentId, sessionId),
  ]
}

/** Condition: no activity in the session since `unusedSince`, and no change of the agent, whose settings request the deletion. */
export interface IfUnused {
  unusedSince: number
  agentUpdatedAt: number
}

const REMOVE = 'DELETE FROM session WHERE agent_id = $1 AND id = $2'
const IF_UNUSED = 'last_message_at < $3 AND lease IS NULL AND EXISTS (SELECT 1 FROM agent WHERE id = $1 AND updated_at = $4)'

/**
 * Deletes a session. Resolves to the lease of its running turn, or to undefined if the session is gone or the condition fails.
 * A large session is invisible at once. Its rows are deleted in slices soon after.
 */
export async function deleteSession(
  db: Database,
  session: Session,
  alongside: Statement[] = [],
  condition?: IfUnused,
): Promise<{ lease: string | null } | undefined> {
  const { agentId, id } = session
  const remove =
    condition === undefined
      ? statement(`${REMOVE} RETURNING lease`, agentId, id)
      : statement(`${REMOVE} AND ${IF_UNUSED} RETURNING lease`, agentId, id, condition.unusedSince, condition.agentUpdatedAt)
  const isSmall = await isSmallSession(db, session)
  const slices = deleteSlices(agentId, id).slice(0, isSmall ? undefined : PARTS_AT_ONCE)
  const statements = [remove, countOneLess(agentId), ...alongside, statement(MARK, agentId, id), ...slices]
  // A shared transaction would update the counter after the inserts of others, and two of them would wait for each other's counters.
  const done = await db.writeIf(statements, { long: true })
  if (done === undefined) return undefined
  db.scrub()
  // On failure the mark stays, and `upkeep.ts` continues the deletion.
  if (!isSmall || done.at(-1)!.length === 0) purge(db, agentId, id).catch(() => {})
  return { lease: done[0]![0]!.lease as string | null }
}

async function isSmallSession(db: Database, { agentId, id, totalMessages }: Session): Promise<boolean> {
  if (totalMessages > SMALL_MESSAGES) return false
  const [size] = await db.read(SIZE, [agentId, id])
  return Number(size!.bytes) <= SMALL_BYTES && Number(size!.most) <= SMALL_ROWS
}

/** Deletes an agent at once, and its rows in slices. */
export async function deleteAgentRows(db: Database, agentId: string): Promise<boolean> {
  const remove = statement('DELETE FROM agent WHERE id = $1 RETURNING id', agentId)
  const mark = statement(MARK, agentId, WHOLE_AGENT)
  const done = await db.writeIf([remove, deleteCounts(agentId), raiseGeneration, mark, ...deleteSlices(agentId, WHOLE_AGENT)])
  if (done === undefined) return false
  db.scrub()
  // On failure the marks stay, and `upkeep.ts` continues the deletion.
  purgeMarked(db).catch(() => {})
  return true
}

/** Returns true if a session of this id was deleted, and its rows are still being deleted. */
export async function isPurged(db: Database, agentId: string, sessionId: string): Promise<boolean> {
  const rows = await db.read('SELECT session_id FROM purge WHERE agent_id = $1 AND session_id = $2', [agentId, sessionId])
  return rows.length > 0
}

/** Continues marked deletions. */
export async function purgeMarked(db: Database): Promise<void> {
  for (;;) {
    const marked = await db.read('SELECT agent_id, session_id FROM purge LIMIT 100', [])
    if (marked.length === 0) return
    for (const row of marked) await purge(db, row.agent_id as string, row.session_id as string)
  }
}

/** Limits deletions to one slice at a time. Agents take turns. */
const purges = new WeakMap<Database, Limiter>()

async function purge(db: Database, agentId: string, sessionId: string): Promise<void> {
  const inTurn = purges.get(db) ?? new Limiter(1)
  purges.set(db, inTurn)
  for (;;) {
    const statements = [statement(HOLD_MARK, agentId, sessionId), ...deleteSlices(agentId, sessionId)]
    const done = await inTurn.run({ id: agentId }, () => thenRest(() => db.writeIf(statements, { long: true })))
    if (done === undefined || done.at(-1)!.length > 0) break
  }
  db.scrub()
}
