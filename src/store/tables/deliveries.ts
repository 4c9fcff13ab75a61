import { nextSlice } from '../../core/fairness/pacer.ts'
import type { Delivery, Happened, TEST_EVENT } from '../../core/webhook.ts'
import { type Database, type Row, type Statement, statement, type Value } from '../database.ts'

const COLUMNS =
  'agent_id, webhook_id, id, event, session_id, target, state, attempts, created_at, next_at, attempted_at, response_status, error'

const toDelivery = (row: Row): Delivery => ({
  id: row.id as string,
  webhookId: row.webhook_id as string,
  event: row.event as Delivery['event'],
  agentId: row.agent_id as string,
  sessionId: row.session_id as string,
  target: row.target as string,
  state: row.state as Delivery['state'],
  attempts: row.attempts as number,
  createdAt: row.created_at as number,
  nextAt: row.next_at as number | null,
  attemptedAt: row.attempted_at as number | null,
  responseStatus: row.response_status as number | null,
  error: row.error as string | null,
})

/** SQL condition: a webhook receives this event of this agent. Both columns are JSON lists, so names and ids are matched with their quotes. */
const wants = (event: string, agent: string) => `w.disabled_at IS NULL AND w.events LIKE '%"' || ${event} || '"%'
  AND (w.agent_ids IS NULL OR w.agent_ids LIKE '%"' || ${agent} || '"%')`

const QUEUE = `INSERT INTO webhook_delivery (agent_id, webhook_id, id, event, session_id, target, created_at, next_at)
  SELECT CAST($1 AS TEXT), w.id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS BIGINT), CAST($6 AS BIGINT)
  FROM webhook w WHERE ${wants('CAST($3 AS TEXT)', 'CAST($1 AS TEXT)')} AND (CAST($7 AS BIGINT) IS NULL OR w.created_at <= CAST($7 AS BIGINT))
    AND EXISTS (SELECT 1 FROM agent WHERE id = $1) ON CONFLICT DO NOTHING`

/**
 * Queues an event for every webhook that wants it, in the transaction that causes the event. Does nothing if the agent is gone.
 * For an older event, `happenedAt` excludes newer webhooks. Clocks differ between processes, so nothing else is compared with them.
 */
export const queueEvent = (id: string, h: Happened, now: number, happenedAt: number | null = null): Statement =>
  statement(QUEUE, h.agentId, id, h.event, h.sessionId, h.target, now, happenedAt)

const QUEUE_FAILED = `INSERT INTO webhook_delivery (agent_id, webhook_id, id, event, session_id, target, created_at, next_at)
  SELECT m.agent_id, w.id, substr(CAST($1 AS TEXT), 1, 24) || substr(m.id, 25), 'turn.failed', m.session_id, m.id, CAST($2 AS BIGINT), CAST($2 AS BIGINT)
  FROM message m JOIN webhook w ON ${wants("'turn.failed'", 'm.agent_id')}
  WHERE m.turn = 'running' AND (m.agent_id, m.session_id, m.seq) IN
    (SELECT agent_id, id, message_count FROM session WHERE lease IS NOT NULL AND lease = $3)`

/**
 * Queues `turn.failed` for all turns whose sessions are leased to `settler`, before these turns are failed.
 * The event id combines the first part of `id` with the end of the message id, because SQL cannot make version 7 UUIDs.
 */
export const queueFailedTurns = (id: string, settler: string, now: number): Statement => statement(QUEUE_FAILED, id, now, settler)

/** Inserts a test event for one webhook. */
export async function insertTest(db: Database, webhookId: string, id: string, now: number, nextAt: number): Promise<Delivery> {
  const sql = `INSERT INTO webhook_delivery (agent_id, webhook_id, id, event, session_id, target, created_at, next_at, attempts, attempted_at)
    VALUES ('', $1, $2, $3, '', '', CAST($4 AS BIGINT), $5, 1, CAST($4 AS BIGINT)) RETURNING ${COLUMNS}`
  const [rows] = await db.write([statement(sql, webhookId, id, 'webhook.test' satisfies typeof TEST_EVENT, now, nextAt)])
  return toDelivery(rows![0]!)
}

/**
 * PostgreSQL checks `next_at` again after a lock wait, so only one of two concurrent claims gets a delivery.
 * `+ 0` keeps SQLite from using that condition as the index range, which would scan all due deliveries. The subquery's last row ends the range.
 */
const CLAIM = `UPDATE webhook_delivery SET attempts = attempts + 1, attempted_at = CAST($3 AS BIGINT), next_at = CAST($4 AS BIGINT)
  WHERE webhook_id = $1 AND agent_id = $2 AND state = 'waiting' AND next_at + 0 <= $3 AND (next_at, id) <=
    (SELECT next_at, id FROM
      (SELECT next_at, id FROM webhook_delivery WHERE webhook_id = $1 AND agent_id = $2 AND state = 'waiting' AND next_at <= $3
        ORDER BY next_at, id LIMIT $5) first
    ORDER BY next_at DESC, id DESC LIMIT 1)
  RETURNING ${COLUMNS}`

/** Agents that one statement reads. */
const AGENTS = 200
const OF_AGENT = (agent: string) => `webhook_id = $1 AND state = 'waiting' AND agent_id ${agent}`

/** Lists the agents with waiting deliveries from `$2` on, by id, each with the time of its first delivery. */
const WAITING = `WITH RECURSIVE waiting (agent_id) AS (
    SELECT (SELECT min(agent_id) FROM webhook_delivery WHERE ${OF_AGENT('>= $2')}) AS agent_id
    UNION ALL
    SELECT (SELECT min(agent_id) FROM webhook_delivery WHERE ${OF_AGENT('> waiting.agent_id')}) FROM waiting WHERE waiting.agent_id IS NOT NULL
  )
  SELECT agent_id, (SELECT min(next_at) FROM webhook_delivery WHERE ${OF_AGENT('= waiting.agent_id')}) AS next_at
  FROM waiting WHERE agent_id IS NOT NULL LIMIT ${AGENTS}`

/** Returns at most `most` agents with due deliveries: first the ids after `after`, then from the beginning. */
async function listDue(db: Database, webhookId: string, now: number, most: number, after: string): Promise<string[]> {
  const due = new Set<string>()
  let last: string | undefined
  for (let from = after, isBehind = after !== ''; ; from = last!) {
    const rows = await db.read(WAITING, [webhookId, from])
    for (const { agent_id: agentId, next_at: nextAt } of rows)
      if ((nextAt as number) <= now && (agentId !== after || !isBehind)) due.add(agentId as string)
    if (due.size >= most) break
    last = rows.at(-1)?.agent_id as string | undefined
    if (rows.length === AGENTS && last !== from) {
      await nextSlice(webhookId)
      continue
    }
    if (!isBehind) break
    isBehind = false
    last = ''
  }
  return [...due].slice(0, most)
}

/**
 * Claims at most `most` deliveries to a webhook that are due. No other process claims them until `claimedUntil`. Agents take turns, beginning with the one
 * after `after`, so that many events of one agent do not delay the events of others. The oldest delivery of an agent comes first.
 */
export async function claimDue(
  db: Database,
  webhookId: string,
  { now, claimedUntil, most, after }: { now: number; claimedUntil: number; most: number; after: string },
): Promise<Delivery[]> {
  const agents = await listDue(db, webhookId, now, most, after)
  if (agents.length === 0) return []
  const each = Math.floor(most / agents.length)
  const claimed = await db.write(agents.map((agentId) => statement(CLAIM, webhookId, agentId, now, claimedUntil, each)))
  return claimed.flatMap((rows) => rows.map(toDelivery).sort((a, b) => (a.id < b.id ? -1 : 1)))
}

/** Resolves to true if a delivery is due. Cheaper than a claim. */
export async function isAnyDue(db: Database, webhookId: string, now: number): Promise<boolean> {
  const sql = `SELECT id FROM webhook_delivery WHERE webhook_id = $1 AND state = 'waiting' AND next_at <= $2 LIMIT 1`
  return (await db.read(sql, [webhookId, now])).length > 0
}

type Outcome = Pick<Delivery, 'state' | 'nextAt' | 'responseStatus' | 'error' | 'attempts'>

/** Stores the result of an attempt. Does nothing if the delivery is gone or another process has claimed it. */
export async function endAttempt(db: Database, d: Delivery, { state, nextAt, responseStatus, error, attempts }: Outcome) {
  const sql = `UPDATE webhook_delivery SET state = $5, next_at = $6, response_status = $7, error = $8, attempts = $9
    WHERE agent_id = $1 AND webhook_id = $2 AND id = $3 AND attempts = $4`
  const key = [d.agentId, d.webhookId, d.id, d.attempts] as const
  await db.write([statement(sql, ...key, state, nextAt, responseStatus, error, attempts)])
}

/** Deletes a delivery that has no content left to send. */
export async function dropDelivery(db: Database, d: Delivery): Promise<void> {
  const sql = 'DELETE FROM webhook_delivery WHERE agent_id = $1 AND webhook_id = $2 AND id = $3'
  await db.write([statement(sql, d.agentId, d.webhookId, d.id)])
}

/** Returns deliveries before `cursor`, newest first. */
export async function listDeliveries(
  db: Database,
  webhookId: string,
  cursor: string | undefined,
  limit: number,
): Promise<Delivery[]> {
  const sql = `SELECT ${COLUMNS} FROM webhook_delivery WHERE webhook_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`
  return (await db.read(sql, [webhookId, cursor ?? LAST, limit])).map(toDelivery)
}

/** Sorts after every UUID. */
const LAST = 'g'
const SLICE_ROWS = 5_000
const COUNT_SLICE = `SELECT count(*) AS n, max(id) AS last FROM
  (SELECT id FROM webhook_delivery WHERE webhook_id = $1 AND id > $2 ORDER BY id LIMIT ${SLICE_ROWS}) slice`

/** Counts in slices: other requests are answered in between. */
export async function countDeliveries(db: Database, webhookId: string): Promise<number> {
  let deliveries = 0
  for (let after = ''; ; ) {
    const [row] = await db.scan(COUNT_SLICE, [webhookId, after])
    deliveries += row!.n as number
    if ((row!.n as number) < SLICE_ROWS) return deliveries
    after = row!.last as string
    await nextSlice(webhookId)
  }
}

export async function findDelivery(db: Database, webhookId: string, id: string): Promise<Delivery | undefined> {
  const [row] = await db.read(`SELECT ${COLUMNS} FROM webhook_delivery WHERE webhook_id = $1 AND id = $2`, [webhookId, id])
  return row && toDelivery(row)
}

/** Restarts a delivery from its first attempt, in any state. Resolves to undefined if it is gone. */
export async function redeliver(db: Database, webhookId: string, id: string, now: number): Promise<Delivery | undefined> {
  const sql = `UPDATE webhook_delivery SET state = 'waiting', attempts = 0, next_at = CAST($3 AS BIGINT) WHERE webhook_id = $1 AND id = $2 RETURNING ${COLUMNS}`
  const [rows] = await db.write([statement(sql, webhookId, id, now)])
  return rows![0] && toDelivery(rows![0])
}

/** The sharer of the scans and the owner of the slices. */
const OLD = { id: 'old deliveries' }
const DELETE_SLICE_ROWS = 500
const deleteSlice = (condition: string): string => `DELETE FROM webhook_delivery WHERE (agent_id, webhook_id, id) IN
  (SELECT agent_id, webhook_id, id FROM webhook_delivery x WHERE ${condition} LIMIT ${DELETE_SLICE_ROWS}) RETURNING id`

/** Old deliveries that one statement reads. Deliveries to a disabled webhook may be many, and are not deleted. */
const OLD_ROWS = 2_000
const OLD_SLICE = `SELECT count(*) AS n, max(created_at) AS last FROM
  (SELECT created_at FROM webhook_delivery WHERE created_at >= $1 AND created_at < $2 ORDER BY created_at LIMIT ${OLD_ROWS}) slice`
const DELETE_OLD = deleteSlice(`created_at >= $1 AND created_at <= $2
  AND (state <> 'waiting' OR NOT EXISTS (SELECT 1 FROM webhook WHERE webhook.id = x.webhook_id))`)

/** Deletes old deliveries in slices, except waiting ones. */
export async function deleteDeliveriesBefore(db: Database, time: number): Promise<void> {
  for (let from = 0; ; ) {
    const [slice] = await db.scan(OLD_SLICE, [from, time], OLD)
    if (slice!.n === 0) return
    const last = slice!.last as number
    await deleteDeliveries(db, DELETE_OLD, from, last)
    if ((slice!.n as number) < OLD_ROWS) return
    from = last + 1
    await nextSlice(OLD.id)
  }
}

const DELETE_OF_WEBHOOK = deleteSlice('webhook_id = $1')

export const deleteDeliveriesOf = (db: Database, webhookId: string): Promise<void> =>
  deleteDeliveries(db, DELETE_OF_WEBHOOK, webhookId)

async function deleteDeliveries(db: Database, slice: string, ...params: Value[]): Promise<void> {
  for (;;) {
    const [rows] = await db.write([statement(slice, ...params)])
    if (rows!.length < DELETE_SLICE_ROWS) return
  }
}
