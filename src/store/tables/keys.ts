import type { ApiKey, KeyBudget, Scope } from '../../core/api-key.ts'
import { type Database, type Row, type Statement, statement } from '../database.ts'
import { raiseGeneration } from './processes/replicas.ts'

const toKey = (row: Row): ApiKey => ({
  id: row.id as string,
  name: row.name as string,
  hash: row.hash as string,
  prefix: row.prefix as string,
  scopes: JSON.parse(row.scopes as string) as Scope[],
  agentIds: row.agent_ids === null ? null : (JSON.parse(row.agent_ids as string) as string[]),
  expiresAt: row.expires_at as number | null,
  lastUsedAt: row.last_used_at as number | null,
  fixed: row.fixed === 1,
  budget: row.budget === null ? null : (JSON.parse(row.budget as string) as KeyBudget),
  createdAt: row.created_at as number,
})

const COLUMNS = 'id, name, hash, prefix, scopes, agent_ids, expires_at, last_used_at, fixed, created_at, budget'
const INSERT = `INSERT INTO api_key (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`
const INSERT_FIRST = `INSERT INTO api_key (${COLUMNS}) SELECT $1, $2, $3, $4, $5, $6, CAST($7 AS BIGINT), CAST($8 AS BIGINT), CAST($9 AS SMALLINT),
  CAST($10 AS BIGINT), $11 WHERE NOT EXISTS (SELECT 1 FROM api_key) RETURNING id`

const insert = (key: ApiKey, sql = INSERT): Statement =>
  statement(
    sql,
    key.id,
    key.name,
    key.hash,
    key.prefix,
    JSON.stringify(key.scopes),
    key.agentIds && JSON.stringify(key.agentIds),
    key.expiresAt,
    key.lastUsedAt,
    key.fixed ? 1 : 0,
    key.createdAt,
    key.budget && JSON.stringify(key.budget),
  )

export async function insertKey(db: Database, key: ApiKey): Promise<void> {
  await db.write([insert(key)])
}

/** Inserts the first key of a deployment. Resolves to false if a key exists: only one of several starting processes creates it. */
export async function insertFirstKey(db: Database, key: ApiKey): Promise<boolean> {
  const [, made] = await db.write([raiseGeneration, insert(key, INSERT_FIRST)])
  return made!.length > 0
}

/** Replaces the key that the configuration sets. */
export async function replaceFixedKey(db: Database, key: ApiKey): Promise<void> {
  await db.write([raiseGeneration, statement('DELETE FROM api_key WHERE fixed = 1 OR hash = $1', key.hash), insert(key)])
}

export async function deleteFixedKeys(db: Database): Promise<void> {
  await db.writeIf([statement('DELETE FROM api_key WHERE fixed = 1 RETURNING id'), raiseGeneration])
}

/** Inserts a new key. The old one expires at `endsAt` at the latest. Resolves to false if the old key is gone. */
export async function rollKey(db: Database, oldId: string, endsAt: number, key: ApiKey): Promise<boolean> {
  const end = `UPDATE api_key SET expires_at = CASE WHEN expires_at IS NULL OR expires_at > $2 THEN $2 ELSE expires_at END WHERE id = $1 RETURNING id`
  return (await db.writeIf([statement(end, oldId, endsAt), insert(key), raiseGeneration])) !== undefined
}

export async function findKeyByHash(db: Database, hash: string): Promise<ApiKey | undefined> {
  const [row] = await db.read(`SELECT ${COLUMNS} FROM api_key WHERE hash = $1`, [hash])
  return row && toKey(row)
}

export async function findKey(db: Database, keyId: string): Promise<ApiKey | undefined> {
  const [row] = await db.read(`SELECT ${COLUMNS} FROM api_key WHERE id = $1`, [keyId])
  return row && toKey(row)
}

/** Resolves to false if there is no such key. */
export async function deleteKey(db: Database, keyId: string): Promise<boolean> {
  return (await db.writeIf([statement('DELETE FROM api_key WHERE id = $1 RETURNING id', keyId), raiseGeneration])) !== undefined
}

/** Newest first. */
export async function listKeys(db: Database, after: ApiKey | undefined, limit: number): Promise<ApiKey[]> {
  const sql = `SELECT ${COLUMNS} FROM api_key WHERE CAST($1 AS BIGINT) IS NULL OR (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3`
  return (await db.read(sql, [after?.createdAt ?? null, after?.id ?? null, limit])).map(toKey)
}

export async function countKeys(db: Database): Promise<number> {
  const [row] = await db.read('SELECT count(*) AS n FROM api_key', [])
  return row!.n as number
}

export async function markKeyUsed(db: Database, keyId: string, at: number): Promise<void> {
  await db.write([statement('UPDATE api_key SET last_used_at = $2 WHERE id = $1', keyId, at)])
}
