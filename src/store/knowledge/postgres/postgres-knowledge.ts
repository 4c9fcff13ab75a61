import type { KnowledgeBase, KnowledgeStore } from '../base.ts'
import type { SqlRow } from '../rows.ts'
import { type ConnectionSettings, WaitingConnection } from './blocking-connection.ts'
import { PostgresBase } from './postgres-base.ts'
import { RemovedBases, removeBase, SHORT_LOCK } from './removal.ts'

const IS_MADE = 'SELECT 1 FROM knowledge_manifest WHERE agent_id = $1'
/** Increments `generation`: readers that cached that the agent has no base must drop this entry. */
const MAKE = `WITH made AS (INSERT INTO knowledge_manifest (agent_id) SELECT id FROM agent WHERE id = $1 FOR SHARE ON CONFLICT DO NOTHING
  RETURNING agent_id) UPDATE generation SET n = n + 1 WHERE EXISTS (SELECT agent_id FROM made)`
/** Duration of a base's lease, renewed with every piece of work. A replica that is removed from `replica` has no lease. */
const HELD_FOR = '15 seconds'
const IS_FREE = `(holder IS NULL OR holder = $1 OR held_until < clock_timestamp() OR NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = holder))`
const HOLD = `UPDATE knowledge_manifest SET hold = CASE WHEN holder = $1 THEN hold ELSE hold + 1 END, holder = $1,
  held_until = clock_timestamp() + INTERVAL '${HELD_FOR}' WHERE agent_id = (SELECT agent_id FROM knowledge_manifest
  WHERE agent_id = $2 AND ${IS_FREE} FOR UPDATE SKIP LOCKED) RETURNING hold, work`
/** Locks the row, or fails at once. */
const FREE_ROW = '(SELECT agent_id FROM knowledge_manifest WHERE agent_id = $2 FOR UPDATE NOWAIT)'
/** Checks the lease while a change locks the row. */
const IS_HELD = 'SELECT 1 FROM knowledge_manifest WHERE agent_id = $2 AND holder = $1 AND hold = $3'
const KEEP_HELD = `UPDATE knowledge_manifest SET held_until = clock_timestamp() + INTERVAL '${HELD_FOR}' WHERE agent_id IN
  (SELECT agent_id FROM knowledge_manifest WHERE holder = $1 AND agent_id = ANY(string_to_array($2, ',')) FOR UPDATE SKIP LOCKED)`
const LET_GO = `UPDATE knowledge_manifest SET is_pending = 0, holder = NULL, held_until = NULL
  WHERE agent_id = $1 AND holder = $2 AND work = $3 RETURNING agent_id`
/** Duration of the embedding lease. A batch of passages takes far less if the provider answers. */
const EMBEDS_FOR = '60 seconds'
const CLAIM_EMBEDDING = `UPDATE knowledge_manifest SET embedder = $1, embeds_until = clock_timestamp() + INTERVAL '${EMBEDS_FOR}' WHERE agent_id = ${FREE_ROW}
  AND (embedder IS NULL OR embedder = $1 OR embeds_until < clock_timestamp() OR NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = embedder))
  RETURNING agent_id`
const END_EMBEDDING = `UPDATE knowledge_manifest SET embedder = NULL, embeds_until = NULL WHERE agent_id = ${FREE_ROW} AND embedder = $1`

export interface PostgresKnowledgeOptions extends ConnectionSettings {
  /** Replica id of this process, unique in the database. */
  holder: string
  /** Number of vectors from which pgvector searches a base. Default: never. */
  nearFrom?: number
}

/** Knowledge bases in PostgreSQL, for the thread that created this object. */
export class PostgresKnowledge implements KnowledgeStore {
  readonly #settings: ConnectionSettings
  readonly #holder: string
  readonly #nearFrom: number
  readonly isShared = true
  /** Leases as of the last `hold`, by agent. */
  readonly #held = new Map<string, { hold: number; work: number }>()
  readonly #removed = new RemovedBases(() => this.#write)
  #writing: WaitingConnection | undefined
  #reading: WaitingConnection | undefined

  constructor({ holder, nearFrom = Number.POSITIVE_INFINITY, ...settings }: PostgresKnowledgeOptions) {
    this.#settings = settings
    this.#holder = holder
    this.#nearFrom = nearFrom
  }

  /** If the agent is deleted, the base rejects every change. */
  openToWrite(agentId: string): KnowledgeBase {
    const [made] = this.#write.run([{ sql: IS_MADE, params: [agentId], prepared: true }])
    if (made!.length === 0)
      this.#write.run([{ sql: 'BEGIN' }, { sql: SHORT_LOCK }, { sql: MAKE, params: [agentId] }, { sql: 'COMMIT' }])
    const isHeld = (row: SqlRow) => row['holder'] === this.#holder && row['hold'] === this.#held.get(agentId)?.hold
    return new PostgresBase(this.#write, agentId, this.#nearFrom, isHeld)
  }

  openToRead(agentId: string): KnowledgeBase | undefined {
    this.#reading ??= new WaitingConnection(this.#settings)
    const [rows] = this.#reading.run([{ sql: IS_MADE, params: [agentId], prepared: true }])
    return rows!.length === 0 ? undefined : new PostgresBase(this.#reading, agentId, this.#nearFrom)
  }

  remove(agentId: string): void {
    removeBase(this.#write, agentId)
    this.#held.delete(agentId)
  }

  removeSome(): boolean {
    return this.#removed.deleteSome()
  }

  list(): { known: string[]; pending: string[] } {
    const sql = `SELECT agent_id FROM knowledge_manifest WHERE is_pending = 1 AND ${IS_FREE}`
    const [rows] = this.#write.run([{ sql, params: [this.#holder], prepared: true }])
    return { known: [], pending: rows!.map((row) => row['agent_id'] as string) }
  }

  listOutdated(reading: number): string[] {
    const sql = 'SELECT agent_id FROM knowledge_manifest WHERE reading < $1'
    const [rows] = this.#write.run([{ sql, params: [reading], prepared: true }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  /** Nothing to do: every base stores its own `reading`. */
  endOutdated(): void {}

  /** Nothing to do: every change sets the mark itself. */
  markPending(): void {}

  unmarkPending(agentId: string): boolean {
    const { work = -1 } = this.#held.get(agentId) ?? {}
    const [rows] = this.#write.run([{ sql: LET_GO, params: [agentId, this.#holder, work], prepared: true }])
    if (rows!.length === 0) return false
    this.#held.delete(agentId)
    return true
  }

  hold(agentId: string): 'taken' | 'kept' | false {
    const before = this.#held.get(agentId)
    // If a server crash loses the lease, it is taken again.
    const [, , rows] = this.#write.run([
      { sql: 'BEGIN' },
      { sql: 'SET LOCAL synchronous_commit = off' },
      { sql: HOLD, params: [this.#holder, agentId], prepared: true },
      { sql: 'COMMIT' },
    ])
    const [row] = rows!
    if (row === undefined) {
      if (before !== undefined && this.#isHeld(agentId, before.hold)) return 'kept'
      this.#held.delete(agentId)
      return false
    }
    const held = { hold: row['hold'] as number, work: row['work'] as number }
    this.#held.set(agentId, held)
    return before?.hold === held.hold ? 'kept' : 'taken'
  }

  #isHeld(agentId: string, hold: number): boolean {
    const [rows] = this.#write.run([{ sql: IS_HELD, params: [this.#holder, agentId, hold], prepared: true }])
    return rows!.length > 0
  }

  keepHeld(agentIds: readonly string[]): void {
    if (agentIds.length === 0) return
    this.#write.run([
      { sql: 'BEGIN' },
      { sql: 'SET LOCAL synchronous_commit = off' },
      { sql: KEEP_HELD, params: [this.#holder, agentIds.join(',')], prepared: true },
      { sql: 'COMMIT' },
    ])
  }

  claimEmbedding(agentId: string): boolean {
    const [rows] = this.#write.run([{ sql: CLAIM_EMBEDDING, params: [this.#holder, agentId], prepared: true }])
    return rows!.length > 0
  }

  endEmbedding(agentId: string): void {
    this.#write.run([{ sql: END_EMBEDDING, params: [this.#holder, agentId], prepared: true }])
  }

  listForsaken(): string[] {
    const sql = `SELECT agent_id FROM knowledge_manifest
      WHERE embedder IS NOT NULL AND NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = embedder)`
    const [rows] = this.#write.run([{ sql, prepared: true }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  listDue(): Map<string, number> {
    const [rows] = this.#write.run([{ sql: 'SELECT agent_id, due_at FROM knowledge_manifest WHERE due_at IS NOT NULL' }])
    return new Map(rows!.map((row) => [row['agent_id'] as string, row['due_at'] as number]))
  }

  markDue(agentId: string, at: number | null): void {
    const sql = `UPDATE knowledge_manifest SET due_at = $1 WHERE agent_id = ${FREE_ROW} AND due_at IS DISTINCT FROM $1`
    this.#write.run([{ sql, params: [at, agentId], prepared: true }])
  }

  listOrphans(): string[] {
    const sql = 'SELECT agent_id FROM knowledge_manifest m WHERE NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = m.agent_id)'
    const [rows] = this.#write.run([{ sql }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  close(): void {
    if (this.#held.size > 0) {
      const sql = 'UPDATE knowledge_manifest SET holder = NULL, held_until = NULL WHERE holder = $1'
      try {
        this.#write.run([{ sql, params: [this.#holder] }])
      } catch {
        // The leases expire soon.
      }
    }
    this.#writing?.close()
    this.#reading?.close()
  }

  get #write(): WaitingConnection {
    this.#writing ??= new WaitingConnection(this.#settings)
    return this.#writing
  }
}
