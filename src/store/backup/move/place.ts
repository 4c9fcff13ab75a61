import { firstRows } from '../../first-rows.ts'

export type Cell = string | number | null | Uint8Array

export interface Table {
  name: string
  /** The columns that order its rows, without the agent in a knowledge base. */
  key: readonly string[]
  /** Rows that are read and written at once: some have a few bytes, some have megabytes. */
  slice: number
  /** Columns with long texts. If there are any, a slice also ends before it has too much text. */
  texts: readonly string[]
}

const table = (name: string, key: string[], slice = 2_000, texts: string[] = []): Table => ({ name, key, slice, texts })

/** True if no rows follow a slice. A slice that ends early because of its text is followed by another. */
export const isLast = ({ slice, texts }: Table, rows: readonly unknown[]): boolean =>
  rows.length === 0 || (texts.length === 0 && rows.length < slice)

/** Returns SQL for a slice of a table. `from`: the table and a condition. */
export const readSlice = ({ slice, texts }: Table, columns: readonly string[], from: string, key: readonly string[]): string =>
  texts.length === 0
    ? `SELECT ${columns.join(', ')} FROM ${from} ORDER BY ${key.join(', ')} LIMIT ${slice}`
    : firstRows({ columns: columns.join(', '), from, key, texts, limit: String(slice) })

const MESSAGE_TEXTS = ['content', 'markdown', 'detail', 'feedback']

/** All tables of agents and conversations. Messages between running processes are not moved. */
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

/** All tables of one agent's knowledge base, except for the data in `BaseState`. */
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

/** Data of a knowledge base that a file stores in another way than a database. */
export interface BaseState {
  version: number
  /** Version of the rules by which its documents were read. */
  reading: number
  /** Last assigned number, by table. */
  last: Record<string, number>
  isPending: boolean
  /** When its sites are next due, in milliseconds since 1970. */
  dueAt: number | null
}

/** An agent's knowledge base, or all conversations if undefined. */
export type MovePart = string | undefined

/** A location of data to read from. */
export interface MoveSide {
  /** Display name: a folder, or the address of a database without its password. */
  readonly name: string
  /** Returns the agents that have a knowledge base, in order. */
  listBases(): Promise<string[]>
  /** Returns the column names in order, without the agent in a knowledge base. */
  columns(table: Table, part: MovePart): Promise<string[]>
  /** Returns the next rows after a key, in key order, limited as the table says; fewer at its end. */
  read(table: Table, part: MovePart, columns: readonly string[], after: readonly Cell[] | undefined): Promise<Cell[][]>
  readState(agentId: string): Promise<BaseState>
  /** Runs a statement on the conversations, in the SQL of both engines. */
  query(sql: string): Promise<Cell[][]>
  close(): Promise<void>
}

/** A location to fill. An interruption leaves the written rows, and the next run continues after them. */
export interface Target extends MoveSide {
  /** Returns the key of the last row. */
  lastKey(table: Table, part: MovePart): Promise<Cell[] | undefined>
  /** Returns rows as this target stores them: it replaces text that it cannot store. */
  toStorable(rows: Cell[][]): Cell[][]
  write(table: Table, part: MovePart, columns: readonly string[], rows: readonly Cell[][]): Promise<void>
  /** Stores the state of a complete knowledge base. */
  writeState(agentId: string, state: BaseState): Promise<void>
  hasBase(agentId: string): Promise<boolean>
  /** Completes the target. A service may start on it afterwards. */
  finish(): Promise<void>
}

/** An error that the user can fix. The message says how. */
export class MoveError extends Error {}

/** Returns false for a folder. */
export const isDatabase = (place: string): boolean => /^postgres(ql)?:\/\//i.test(place)
