import { type Database, statement } from './database.ts'

/** An act of whoever runs the service. */
export interface AuditEntry {
  /** In order of time. */
  id: string
  at: number
  /** The name of the operation. */
  action: string
  /** Null where no key was needed, because it was done where the data lies. */
  keyId: string | null
  agentId: string | null
  /** What it was done to: an id; of an end user the SHA-256 of it. */
  target: string | null
  requestId: string | null
  address: string | null
  /** Of the answer; null where the work was cut off before it. */
  status: number | null
}

export interface AuditFilter {
  from?: number | undefined
  /** Not itself. */
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

const WHERE = `at >= $1 AND at < $2 AND (CAST($3 AS TEXT) IS NULL OR agent_id = $3)`
const paramsOf = ({ from = 0, to = Number.MAX_SAFE_INTEGER, agentId = undefined }: AuditFilter) => [from, to, agentId ?? null]

/** Newest first; those before `cursor` where it is given. */
export async function listAuditEntries(
  db: Database,
  filter: AuditFilter,
  cursor: string | undefined,
  limit: number,
): Promise<AuditEntry[]> {
  const sql = `SELECT ${COLUMNS} FROM audit_entry WHERE ${WHERE} AND id < $4 ORDER BY id DESC LIMIT $5`
  const rows = await db.scan(sql, [...paramsOf(filter), cursor ?? LAST, limit])
  return rows.map((row) => ({
    id: row.id as string,
    at: row.at as number,
    action: row.action as string,
    keyId: row.key_id as string | null,
    agentId: row.agent_id as string | null,
    target: row.target as string | null,
    requestId: row.request_id as string | null,
    address: row.address as string | null,
    status: row.status as number | null,
  }))
}

/** Behind every UUID. */
const LAST = 'g'
const SLICE_ROWS = 5_000
const COUNT_SLICE = `SELECT count(*) AS n, max(id) AS last FROM
  (SELECT id FROM audit_entry WHERE ${WHERE} AND id > $4 ORDER BY id LIMIT ${SLICE_ROWS}) slice`

/** In slices: others are served between them. */
export async function countAuditEntries(db: Database, filter: AuditFilter): Promise<number> {
  let entries = 0
  for (let after = ''; ; ) {
    const [row] = await db.scan(COUNT_SLICE, [...paramsOf(filter), after])
    entries += row!.n as number
    if ((row!.n as number) < SLICE_ROWS) return entries
    after = row!.last as string
    await new Promise(setImmediate)
  }
}

const DELETE_SLICE =
  'DELETE FROM audit_entry WHERE id IN (SELECT id FROM audit_entry WHERE at < $1 ORDER BY id LIMIT 500) RETURNING id'

export async function deleteAuditBefore(db: Database, time: number): Promise<void> {
  for (;;) {
    const [rows] = await db.write([statement(DELETE_SLICE, time)])
    if (rows!.length < 500) return
  }
}
