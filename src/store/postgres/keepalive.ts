import type pg from 'pg'

/** In seconds; the last one in milliseconds. */
const SETTINGS = [
  'tcp_keepalives_idle = 10',
  'tcp_keepalives_interval = 5',
  'tcp_keepalives_count = 3',
  'tcp_user_timeout = 25000',
]

/**
 * Lets the server close a connection after 25 seconds of silence, which ends its transaction and locks. Servers usually wait two hours,
 * and other replicas with them. Must not be used through a pooler, whose connections are shared.
 */
export function endWhenCut(client: pg.ClientBase): void {
  client.query(SETTINGS.map((setting) => `SET ${setting}`).join(';')).catch(() => {})
}
