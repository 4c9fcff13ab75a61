/**
 * Statements of knowledge bases, for both engines. They name no agent: a SQLite file belongs to one agent, and in PostgreSQL all agents share tables.
 * A statement that reads has its tables in braces, `SELECT df FROM {word w}`. Changes are values: an insert, or a table with `Change`.
 */

/** A change of rows. The parameters of `set` come first. Without `where`, all rows of the base change. */
export interface Change {
  set: string
  where?: string
}

/** Rows to insert. If there is a row with the same key already, `set` changes it; `excluded` is the row to insert. */
export interface Insertion {
  into: string
  columns: readonly string[]
  onConflict?: { key: readonly string[]; set: string }
}

const TABLE = /\{(\w+)(?: (\w+))?\}/g

/** Replaces each table in braces. `render` gets the table and its alias. */
export const withTables = (sql: string, render: (table: string, alias: string | undefined) => string): string =>
  sql.replace(TABLE, (_, table: string, alias: string | undefined) => render(table, alias))
