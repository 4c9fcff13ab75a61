import type { Session } from '../../../core/session.ts'
import { type Database, type Statement, statement } from '../../database.ts'
import { freeClaims } from '../idempotency.ts'
import { SESSION_COLUMNS, toSession } from '../sessions.ts'
import { failTurns } from '../turns.ts'

/** Returns an id with its replica as prefix, for leases and claims. */
export const ownedId = (replica: string, id: string): string => `${replica}/${id}`
/** Range of a replica's ids: '0' is the character after '/'. */
export const rangeOf = (replica: string): [string, string] => [`${replica}/`, `${replica}0`]

/** Part of every change of an agent, key or webhook. */
export const raiseGeneration: Statement = statement('UPDATE generation SET n = n + 1')

export async function readGeneration(db: Database): Promise<number> {
  const [row] = await db.read('SELECT n FROM generation', [])
  return row!.n as number
}

/** Resolves to the generation and a session in one statement: most requests need both. */
export async function readGenerationWith(
  db: Database,
  agentId: string,
  sessionId: string,
): Promise<{ generation: number; session: Session | undefined }> {
  const sql = `SELECT n, ${SESSION_COLUMNS} FROM generation LEFT JOIN session ON agent_id = $1 AND id = $2`
  const [row] = await db.read(sql, [agentId, sessionId])
  return { generation: row!.n as number, session: row!.id === null ? undefined : toSession(row!) }
}

const BEAT = `INSERT INTO replica (id, seen_at, lock_id) VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET seen_at = $2, lock_id = $3`

/** Records that the replica is alive. `lockId` is the lock that proves it, null if there is none. */
export async function beat(db: Database, replica: string, now: number, lockId: number | null): Promise<void> {
  await db.write([statement(BEAT, replica, now, lockId)])
}

export interface SeenReplica {
  id: string
  seenAt: number
  lockId: number | null
}

/** Returns all replicas except this one. */
export async function listOthers(db: Database, replica: string): Promise<SeenReplica[]> {
  const rows = await db.read('SELECT id, seen_at, lock_id FROM replica WHERE id <> $1', [replica])
  return rows.map((row) => ({ id: row.id as string, seenAt: row.seen_at as number, lockId: row.lock_id as number | null }))
}

/**
 * Cleans up after a dead replica: fails its turns, which can be continued, releases its idempotency keys and removes its waiting sends.
 * Resolves to the number of turns, undefined if another process did it. `settler` is a unique id; `alongside` is written while it leases the sessions.
 */
export async function settleReplica(
  db: Database,
  replica: string,
  settler: string,
  alongside: Statement[] = [],
): Promise<number | undefined> {
  const range = rangeOf(replica)
  const done = await db.writeIf([
    statement('DELETE FROM replica WHERE id = $1 RETURNING id', replica),
    ...failTurns('lease >= $1 AND lease < $2', range, settler, alongside),
    statement('DELETE FROM waiting_send WHERE replica = $1', replica),
    statement('DELETE FROM stop_request WHERE lease >= $1 AND lease < $2', ...range),
    ...freeClaims('claim >= $1 AND claim < $2', ...range),
  ])
  return done?.[2 + alongside.length]?.length
}

/** Condition: the session's turn answers this message. The message is the last one, or one reply that is being regenerated follows. */
const IS_OF = `(message_count = $4 OR message_count = $4 + 1 AND EXISTS
  (SELECT 1 FROM message m WHERE m.agent_id = $1 AND m.session_id = $2 AND m.seq = $4 + 1 AND m.role = 'AI'))`

/**
 * Asks the replica that runs the turn of a user's message to stop it. `seq` is the position of the message.
 * Resolves to the lease of the turn, or to undefined if the message has no running turn, even if the session has another one.
 */
export async function askToStop(
  db: Database,
  agentId: string,
  sessionId: string,
  seq: number,
  now: number,
): Promise<string | undefined> {
  const sql = `INSERT INTO stop_request (agent_id, lease, asked_at)
    SELECT agent_id, lease, CAST($3 AS BIGINT) FROM session WHERE agent_id = $1 AND id = $2 AND lease IS NOT NULL AND ${IS_OF}
    ON CONFLICT (agent_id, lease) DO UPDATE SET asked_at = $3 RETURNING lease`
  const [rows] = await db.write([statement(sql, agentId, sessionId, now, seq)])
  return rows![0]?.lease as string | undefined
}

/** Asks to stop a turn whose session is gone. */
export async function askToStopLease(db: Database, agentId: string, lease: string, now: number): Promise<void> {
  const sql = 'INSERT INTO stop_request (agent_id, lease, asked_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING'
  await db.write([statement(sql, agentId, lease, now)])
}

/** Deletes the stop requests for a replica's turns, and returns the leases of these turns. */
export async function takeStopRequests(db: Database, replica: string): Promise<string[]> {
  const range = rangeOf(replica)
  if ((await db.read('SELECT lease FROM stop_request WHERE lease >= $1 AND lease < $2 LIMIT 1', range)).length === 0) return []
  const sql = 'DELETE FROM stop_request WHERE lease >= $1 AND lease < $2 RETURNING lease'
  const [rows] = await db.write([statement(sql, ...range)])
  return rows!.map((row) => row.lease as string)
}

/** Deletes stop requests whose turns have ended, and expired positions of waiting sends. */
export async function forgetLeftovers(db: Database, before: number): Promise<void> {
  await db.write([
    statement('DELETE FROM stop_request WHERE asked_at < $1', before),
    statement('DELETE FROM waiting_send WHERE until < $1', before),
  ])
}
