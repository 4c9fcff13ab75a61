import { firstRows } from '../../first-rows.ts'

export type Cell = string | number | null | Uint8Array

export interface Table {
  name: string
  /** The columns that its rows are ordered by; of a knowledge base without the agent. */
  key: readonly string[]
  /** Rows that are read and written at once: some hold a few bytes, some megabytes. */
  slice: number
  /** Columns with long texts. If there are any, a slice also ends before it has too much text. */
  texts: readonly string[]
}

const table = (name: string, key: string[], slice = 2_000, texts: string[] = []): Table => ({ name, key, slice, texts })

/** True if no rows come behind a slice. A slice that ends early because of its text is followed by another. */
export const isLast = ({ slice, texts }: Table, rows: readonly unknown[]): boolean =>
  rows.length === 0 || (texts.length === 0 && rows.length < slice)

/** Returns SQL for a slice of a table. `from`: the table and a condition. */
export const readSlice = ({ slice, texts }: Table, columns: readonly string[], from: string, key: readonly string[]): string =>
  texts.length === 0
    ? `SELECT ${columns.join(', ')} FROM ${from} ORDER BY ${key.join(', ')} LIMIT ${slice}`
    : firstRows({ columns: columns.join(', '), from, key, texts, limit: String(slice) })

const MESSAGE_TEXTS = ['content', 'markdown', 'detail', 'feedback']

/** All that is kept of agents and conversations. What processes tell each other while they run is not moved. */
export const CONVERSATIONS: readonly Table[] = [
  table('agent', ['id']),
  table('api_key', ['id']),
  table('token_secret', ['id']),
  table('sample', ['id']),
  table('session_count', ['agent_id', 'shard']),
  table('session', ['agent_id', 'id']),
  table('message', ['agent_id', 'session_id', 'seq'], 2_000, MESSAGE_TEXTS),
  table('message_version', ['agent_id', 'session_id', 'message_id', 'version'], 2_000, MESSAGE_TEXTS),
  table('summary', ['agent_id', 'session_id'], 2_000, ['text']),
  table('purge', ['agent_id', 'session_id']),
  table('kept_answer', ['api_key_id', 'key_hash'], 500, ['answer']),
  table('spending', ['id', 'day']),
  table('audit_entry', ['id']),
  table('webhook', ['id']),
  table('webhook_delivery', ['agent_id', 'webhook_id', 'id']),
]

/** All that is kept of one agent's knowledge base, but for what stands in `BaseState`. */
export const KNOWLEDGE: readonly Table[] = [
  table('document', ['number']),
  table('content', ['document'], 1),
  table('large_content', ['number']),
  table('content_piece', ['content', 'number'], 4),
  table('passage', ['id'], 1_000),
  table('segment', ['number'], 10),
  table('post', ['segment', 'key']),
  table('dead', ['first']),
  table('word', ['number'], 5_000),
  table('spelling', ['gram'], 500),
  table('gram', ['gram'], 5_000),
  table('language', ['code']),
  table('site', ['number']),
  table('page', ['site', 'url']),
  table('page_links', ['site', 'url'], 20),
  table('vector_space', ['number']),
  table('vector', ['key'], 500),
  table('vector_block', ['space', 'number'], 20),
]

/** What is kept of a knowledge base in another way in a file than in a database. */
export interface BaseState {
  version: number
  /** By which rules its documents were read. */
  reading: number
  /** The number given last, by table. */
  last: Record<string, number>
  isPending: boolean
  /** When its sites are next due, in milliseconds since 1970. */
  dueAt: number | null
}

/** Whose rows: of all conversations, or of this agent's knowledge base. */
export type MovePart = string | undefined

/** Where data lies, and is read from. */
export interface MovePlace {
  /** For people: a folder, or the address of a database without its password. */
  readonly name: string
  /** The agents that have a knowledge base, in order. */
  listBases(): Promise<string[]>
  /** In order of their names; of a knowledge base without the agent. */
  columns(table: Table, part: MovePart): Promise<string[]>
  /** The next rows behind a key, in order of the key, as many as the table says; fewer at its end. */
  read(table: Table, part: MovePart, columns: readonly string[], after: readonly Cell[] | undefined): Promise<Cell[][]>
  readState(agentId: string): Promise<BaseState>
  /** A statement about conversations, in the SQL of both engines. */
  query(sql: string): Promise<Cell[][]>
  close(): Promise<void>
}

/** A place that is being filled. What was written stays when the work is cut off, and is gone on with the next time. */
export interface Target extends MovePlace {
  /** The key of the last row. */
  lastKey(table: Table, part: MovePart): Promise<Cell[] | undefined>
  /** Returns rows as this place stores them: it replaces text that it cannot hold. */
  toStorable(rows: Cell[][]): Cell[][]
  write(table: Table, part: MovePart, columns: readonly string[], rows: readonly Cell[][]): Promise<void>
  /** Of a knowledge base that is whole. */
  writeState(agentId: string, state: BaseState): Promise<void>
  hasBase(agentId: string): Promise<boolean>
  /** From now on a service may start on it. */
  finish(): Promise<void>
}

/** Something that its user can put right; the message says what. */
export class MoveError extends Error {}

/** Otherwise it is a folder. */
export const isDatabase = (place: string): boolean => /^postgres(ql)?:\/\//i.test(place)
