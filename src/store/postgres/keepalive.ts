import type pg from 'pg'

/** In seconds, and the last in milliseconds. */
const SETTINGS = [
  'tcp_keepalives_idle = 10',
  'tcp_keepalives_interval = 5',
  'tcp_keepalives_count = 3',
  'tcp_user_timeout = 25000',
]

/**
 * Lets the server end a connection after 25 seconds without a sign of life, and with it the transaction and the locks. Servers usually wait for two hours, and other
 * replicas with them. Must not be used through a pooler, whose connections others use, too.
 */
export function endWhenCut(client: pg.ClientBase): void {
  client.query(SETTINGS.map((setting) => `SET ${setting}`).join(';')).catch(() => {})
}
