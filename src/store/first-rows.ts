/** Bytes of text that one statement reads: SQLite needs about 3 ms for this much non-ASCII text. */
const MAX_BYTES = 300_000

export interface FirstRows {
  columns: string
  /** A table and a condition. */
  from: string
  /** The columns that order the rows. No two rows have the same key. */
  key: readonly string[]
  direction?: 'ASC' | 'DESC'
  /** The columns that hold long texts. */
  texts: readonly string[]
  /** The most rows, as a parameter. */
  limit: string
}

/**
 * Returns SQL that reads the first rows by their key: at most `limit` rows and `MAX_BYTES` of text, but at least one row. A slice with
 * fewer rows than `limit` is not always the last one. Both engines know the size of a text without reading it.
 */
export function firstRows({ columns, from, key, direction = 'ASC', texts, limit }: FirstRows): string {
  const order = key.map((column) => `${column} ${direction}`).join(', ')
  const bytes = texts.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ')
  return `SELECT ${columns} FROM ${from} ORDER BY ${order} LIMIT (SELECT coalesce(nullif(count(*), 0), 1) FROM
    (SELECT sum(bytes) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS total FROM
      (SELECT ${key.join(', ')}, ${bytes} AS bytes FROM ${from} ORDER BY ${order} LIMIT ${limit}) first) totals
    WHERE total <= ${MAX_BYTES})`
}
