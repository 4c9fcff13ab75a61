import { type Database, statement } from '../../database.ts'
import { rangeOf } from './replicas.ts'

/** Requests the text of the session's running turn for a reader on another replica. Resolves to its lease, or to undefined if no turn runs. */
export async function askToFollow(db: Database, agentId: string, sessionId: string, now: number): Promise<string | undefined> {
  const sql = `INSERT INTO followed_turn (agent_id, lease, asked_at)
    SELECT agent_id, lease, CAST($3 AS BIGINT) FROM session WHERE agent_id = $1 AND id = $2 AND lease IS NOT NULL
    ON CONFLICT (agent_id, lease) DO UPDATE SET asked_at = $3 RETURNING lease`
  const [rows] = await db.write([statement(sql, agentId, sessionId, now)])
  return rows![0]?.lease as string | undefined
}

/** Returns the leases of a replica's turns whose text is requested by other replicas. */
export async function listFollowed(db: Database, replica: string): Promise<string[]> {
  const rows = await db.read('SELECT lease FROM followed_turn WHERE lease >= $1 AND lease < $2', rangeOf(replica))
  return rows.map((row) => row.lease as string)
}

export interface FollowedTurnRow {
  agentId: string
  lease: string
}

/** A piece of a turn's text and its offset. An empty piece marks the end. */
export interface Piece {
  start: number
  text: string
}

export async function addPiece(db: Database, { agentId, lease }: FollowedTurnRow, { start, text }: Piece): Promise<void> {
  const sql = 'INSERT INTO followed_text (agent_id, lease, start, text) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING'
  await db.write([statement(sql, agentId, lease, start, text)])
}

/** Returns the pieces that start at `from` or later, in order. */
export async function listPieces(db: Database, { agentId, lease }: FollowedTurnRow, from: number): Promise<Piece[]> {
  const sql = 'SELECT start, text FROM followed_text WHERE agent_id = $1 AND lease = $2 AND start >= $3 ORDER BY start'
  return (await db.read(sql, [agentId, lease, from])) as unknown as Piece[]
}

export async function deletePieces(db: Database, { agentId, lease }: FollowedTurnRow): Promise<void> {
  await db.write([
    statement('DELETE FROM followed_turn WHERE agent_id = $1 AND lease = $2', agentId, lease),
    statement('DELETE FROM followed_text WHERE agent_id = $1 AND lease = $2', agentId, lease),
  ])
}

/** Deletes the pieces of a replica that is gone. */
export async function deletePiecesOf(db: Database, replica: string): Promise<void> {
  const range = rangeOf(replica)
  await db.write([
    statement('DELETE FROM followed_turn WHERE lease >= $1 AND lease < $2', ...range),
    statement('DELETE FROM followed_text WHERE lease >= $1 AND lease < $2', ...range),
  ])
}

/** Deletes the pieces of turns that nobody has requested since `time`. Their processes are gone. */
export async function deletePiecesBefore(db: Database, time: number): Promise<void> {
  const pieces = `DELETE FROM followed_text WHERE NOT EXISTS (SELECT 1 FROM followed_turn t
    WHERE t.agent_id = followed_text.agent_id AND t.lease = followed_text.lease AND t.asked_at >= $1)`
  await db.write([statement(pieces, time), statement('DELETE FROM followed_turn WHERE asked_at < $1', time)])
}
