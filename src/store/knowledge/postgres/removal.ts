import type { SqlValue } from '../rows.ts'
import type { WaitingConnection } from './blocking-connection.ts'
import { nearTable } from './scope.ts'

/** Limits of one delete transaction: small enough that documents of other agents do not wait noticeably. */
const SLICE_ROWS = 2_000
const SLICE_BYTES = 4_000_000

interface BaseTable {
  name: string
  /** Key columns within the agent. */
  key: readonly string[]
  /** Values less than every key. */
  start: readonly SqlValue[]
  /** SQL of the bytes that a row takes, without small columns. */
  bytes: string
}

const table = (name: string, key: Record<string, SqlValue>, ...columns: string[]): BaseTable => ({
  name: `knowledge_${name}`,
  key: Object.keys(key),
  start: Object.values(key),
  bytes: ['0', ...columns.map((column) => `octet_length(${column})`)].join(' + '),
})

/** All tables except `near`, which is deleted with the manifest. */
const TABLES: readonly BaseTable[] = [
  table('document', { number: -1 }, 'metadata', 'source'),
  table('content', { document: -1 }, 'content'),
  table('large_content', { number: -1 }),
  table('content_piece', { content: -1, number: -1 }, 'bytes'),
  table('passage', { id: -1 }, 'text', 'heading', 'forward'),
  table('segment', { number: -1 }, 'ids'),
  table('post', { segment: -1, key: '' }, 'data'),
  table('dead', { first: -1 }),
  table('word', { number: -1 }),
  table('spelling', { gram: '' }, 'data'),
  table('gram', { gram: '' }),
  table('language', { code: '' }),
  table('site', { number: -1 }),
  table('page', { site: -1, url: '' }),
  table('page_links', { site: -1, url: '' }, 'links'),
  table('vector_space', { number: -1 }, 'mean'),
  table('vector', { key: -1 }, 'code'),
  table('vector_block', { space: -1, number: -1 }, 'ids', 'bits'),
]

/** Lock timeout of changes from outside: the whole thread waits for the lock. */
export const SHORT_LOCK = "SET LOCAL lock_timeout = '30ms'"
const LOCK = 'SELECT 1 FROM knowledge_manifest WHERE agent_id = $1 FOR UPDATE'
const MARK =
  'INSERT INTO knowledge_removal (agent_id) SELECT agent_id FROM knowledge_manifest WHERE agent_id = $1 ON CONFLICT DO NOTHING'
const NEXT = 'SELECT agent_id FROM knowledge_removal ORDER BY agent_id LIMIT 1'
/** Makes other processes that delete the same base wait, so that two transactions never delete the same rows. */
const LOCK_MARK = 'SELECT 1 FROM knowledge_removal WHERE agent_id = $1 FOR UPDATE'

/** Removes a base for all processes, and marks its rows for `deleteSome`. Throws `BaseBusy` while another process changes the base. */
export function removeBase(connection: WaitingConnection, agentId: string): void {
  const params = [agentId]
  const [near] = connection.run([{ sql: 'SELECT space FROM knowledge_near WHERE agent_id = $1', params }])
  connection.run([
    { sql: 'BEGIN' },
    { sql: SHORT_LOCK },
    { sql: LOCK, params },
    ...near!.map(({ space }) => ({ sql: `DROP TABLE IF EXISTS ${nearTable(agentId, space as number)}` })),
    { sql: 'DELETE FROM knowledge_near WHERE agent_id = $1', params },
    { sql: MARK, params },
    { sql: 'DELETE FROM knowledge_manifest WHERE agent_id = $1', params },
    { sql: 'COMMIT' },
  ])
}

const placesOf = (columns: readonly unknown[], from: number) => `(${columns.map((_, i) => `$${i + from}`).join(', ')})`

/** Returns the key of the last row of the next slice; no row at the end of the table. */
function sliceEnd({ name, key, bytes }: BaseTable): string {
  const columns = key.join(', ')
  return `SELECT ${columns} FROM (SELECT ${columns}, sum(bytes) OVER (ORDER BY ${columns}) AS total, row_number() OVER (ORDER BY ${columns}) AS n
    FROM (SELECT ${columns}, ${bytes} AS bytes FROM ${name} WHERE agent_id = $1 AND (${columns}) > ${placesOf(key, 2)}
      ORDER BY ${columns} LIMIT ${SLICE_ROWS}) first) counted
    WHERE total <= ${SLICE_BYTES} OR n = 1 ORDER BY n DESC LIMIT 1`
}

const deleteRange = ({ name, key }: BaseTable): string =>
  `DELETE FROM ${name} WHERE agent_id = $1 AND (${key.join(', ')}) > ${placesOf(key, 2)} AND (${key.join(', ')}) <= ${placesOf(key, 2 + key.length)}`

/** Deletes the rows of removed bases in slices, in key order, so that it never scans deleted rows again. */
export class RemovedBases {
  readonly #connection: () => WaitingConnection
  /** Start of the next slice. */
  #at: { agentId: string; table: number; after: readonly SqlValue[] } | undefined

  constructor(connection: () => WaitingConnection) {
    this.#connection = connection
  }

  /** Deletes one slice. Returns false when nothing is left. */
  deleteSome(): boolean {
    const at = this.#at ?? this.#next()
    // After an error the base starts over.
    this.#at = undefined
    if (at === undefined) return false
    const open = TABLES[at.table]
    if (open === undefined) {
      this.#change(at.agentId, { sql: 'DELETE FROM knowledge_removal WHERE agent_id = $1', params: [at.agentId] })
      return true
    }
    const [ends] = this.#connection().run([{ sql: sliceEnd(open), params: [at.agentId, ...at.after] }])
    const [end] = ends!
    if (end === undefined) {
      this.#at = { ...at, table: at.table + 1, after: TABLES[at.table + 1]?.start ?? [] }
      return true
    }
    const last = open.key.map((column) => end[column]!)
    this.#change(at.agentId, { sql: deleteRange(open), params: [at.agentId, ...at.after, ...last] })
    this.#at = { ...at, after: last }
    return true
  }

  #next(): { agentId: string; table: number; after: readonly SqlValue[] } | undefined {
    const [rows] = this.#connection().run([{ sql: NEXT }])
    const agentId = rows![0]?.['agent_id'] as string | undefined
    return agentId === undefined ? undefined : { agentId, table: 0, after: TABLES[0]!.start }
  }

  /** The commit does not wait for the disk: a deletion that a server crash loses is repeated. */
  #change(agentId: string, step: { sql: string; params: SqlValue[] }): void {
    this.#connection().run([
      { sql: 'BEGIN' },
      { sql: 'SET LOCAL synchronous_commit = off' },
      { sql: LOCK_MARK, params: [agentId] },
      step,
      { sql: 'COMMIT' },
    ])
  }
}
