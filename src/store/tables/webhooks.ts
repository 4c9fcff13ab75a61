import type { Webhook, WebhookEvent } from '../../core/webhook.ts'
import { type Database, type Row, statement } from '../database.ts'
import { deleteDeliveriesOf } from './deliveries.ts'
import { raiseGeneration } from './processes/replicas.ts'

const COLUMNS = 'id, url, events, agent_ids, secret, created_at, disabled_at'

const toWebhook = (row: Row): Webhook => ({
  id: row.id as string,
  url: row.url as string,
  events: JSON.parse(row.events as string) as WebhookEvent[],
  agentIds: row.agent_ids === null ? null : (JSON.parse(row.agent_ids as string) as string[]),
  secret: row.secret as string,
  createdAt: row.created_at as number,
  disabledAt: row.disabled_at as number | null,
})

export async function insertWebhook(db: Database, w: Webhook): Promise<void> {
  const sql = `INSERT INTO webhook (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7)`
  const agents = w.agentIds && JSON.stringify(w.agentIds)
  const insert = statement(sql, w.id, w.url, JSON.stringify(w.events), agents, w.secret, w.createdAt, w.disabledAt)
  await db.write([insert, raiseGeneration])
}

/** Returns all webhooks, newest first. There are few. */
export async function listWebhooks(db: Database): Promise<Webhook[]> {
  return (await db.read(`SELECT ${COLUMNS} FROM webhook ORDER BY id DESC`, [])).map(toWebhook)
}

/** Deletes a webhook at once, and its deliveries in slices. Resolves to false if there is no such webhook. */
export async function deleteWebhook(db: Database, id: string): Promise<boolean> {
  const remove = statement('DELETE FROM webhook WHERE id = $1 RETURNING id', id)
  if ((await db.writeIf([remove, raiseGeneration])) === undefined) return false
  // After a failure, retention deletes the rest.
  deleteDeliveriesOf(db, id).catch(() => {})
  return true
}

/** Disables a webhook. Null enables it again. */
export async function setDisabled(db: Database, id: string, disabledAt: number | null): Promise<void> {
  const sql = 'UPDATE webhook SET disabled_at = $2 WHERE id = $1'
  await db.write([statement(sql, id, disabledAt), raiseGeneration])
}
