import { nextSlice } from '../../core/fairness/pacer.ts'
import { type Database, type Row, statement } from '../database.ts'

/** An action of an operator. */
export interface AuditEntry {
  /** Ordered by time. */
  id: string
  at: number
  /** The name of the operation. */
  action: string
  /** Null if no key was needed, because the action ran on the machine with the data. */
  keyId: string | null
  agentId: string | null
  /** The object of the action: an id. For an end user, the SHA-256 of the id. */
  target: string | null
  requestId: string | null
  address: string | null
  /** HTTP status of the response. Null if the work was interrupted before it. */
  status: number | null
}

export interface AuditFilter {
  from?: number | undefined
  /** Exclusive. */
  to?: number | undefined
  agentId?: string | undefined
}

const COLUMNS = 'id, at, action, key_id, agent_id, target, request_id, address, status'

export async function insertAuditEntry(db: Database, e: AuditEntry): Promise<void> {
  const sql = `INSERT INTO audit_entry (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
  await db.write([statement(sql, e.id, e.at, e.action, e.keyId, e.agentId, e.target, e.requestId, e.address, e.status)])
}

export async function endAuditEntry(db: Database, id: string, status: number, target: string | null): Promise<void> {
  await db.write([statement('UPDATE audit_entry SET status = $2, target = $3 WHERE id = $1', id, status, target)])
}

const WHERE = `at >= $2 AND at < $3 AND (CAST($4 AS TEXT) IS NULL OR agent_id = $4)`
const paramsOf = ({ from = 0, to = Number.MAX_SAFE_INTEGER, agentId = undefined }: AuditFilter) => [from, to, agentId ?? null]

/** Owner of the slices. All readers share one turn, because they have platform keys. */
const AUDIT = 'audit'
/** Sorts after every UUID. */
const LAST = 'g'
/** Entries that one statement reads, whether they match the filter or not. */
const SLICE_ROWS = 5_000
const SLICE_BEFORE = `FROM audit_entry WHERE id < $1 ORDER BY id DESC LIMIT`
const LIST_SLICE = `SELECT ${COLUMNS} FROM (SELECT ${COLUMNS} ${SLICE_BEFORE} ${SLICE_ROWS}) slice WHERE ${WHERE} ORDER BY id DESC LIMIT $5`
const END_OF_SLICE = `SELECT id ${SLICE_BEFORE} 1 OFFSET ${SLICE_ROWS - 1}`

/** Returns entries before `cursor`, newest first. Other requests are answered between two slices. */
export async function listAuditEntries(
  db: Database,
  filter: AuditFilter,
  cursor: string | undefined,
  limit: number,
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let before = cursor ?? LAST; ; ) {
    const rows = await db.scan(LIST_SLICE, [before, ...paramsOf(filter), limit - entries.length])
    entries.push(...rows.map(toEntry))
    if (entries.length === limit) return entries
    const [end] = await db.scan(END_OF_SLICE, [before])
    if (end === undefined) return entries
    before = end.id as string
    await nextSlice(AUDIT)
  }
}

const toEntry = (row: Row): AuditEntry => ({
  id: row.id as string,
  at: row.at as number,
  action: row.action as string,
  keyId: row.key_id as string | null,
  agentId: row.agent_id as string | null,
  target: row.target as string | null,
  requestId: row.request_id as string | null,
  address: row.address as string | null,
  status: row.status as number | null,
})

const COUNT_SLICE = `SELECT count(CASE WHEN ${WHERE} THEN 1 END) AS passing, count(*) AS n, max(id) AS last FROM
  (SELECT id, at, agent_id FROM audit_entry WHERE id > $1 ORDER BY id LIMIT ${SLICE_ROWS}) slice`

/** Counts entries in slices: other requests are answered in between. */
export async function countAuditEntries(db: Database, filter: AuditFilter): Promise<number> {
  let entries = 0
  for (let after = ''; ; ) {
    const [slice] = await db.scan(COUNT_SLICE, [after, ...paramsOf(filter)])
    entries += slice!.passing as number
    if ((slice!.n as number) < SLICE_ROWS) return entries
    after = slice!.last as string
    await nextSlice(AUDIT)
  }
}

// Ids are in the order of time, so that the oldest entries are found without an index on `at`.
const DELETE_SLICE = `DELETE FROM audit_entry WHERE id IN
  (SELECT id FROM (SELECT id, at FROM audit_entry ORDER BY id LIMIT 500) oldest WHERE at < $1) RETURNING id`

export async function deleteAuditBefore(db: Database, time: number): Promise<void> {
  for (;;) {
    const [rows] = await db.write([statement(DELETE_SLICE, time)])
    if (rows!.length < 500) return
  }
}
