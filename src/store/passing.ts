/** Result codes of SQLite that mean "not now" and not "never": busy, locked, out of memory, read-only, I/O, full, cannot open. */
const PASSING = new Set([5, 6, 7, 8, 10, 13, 14])

/** True for an error of SQLite that trying again may be over. */
export function isPassing(error: unknown): boolean {
  const code = (error as { errcode?: number } | null)?.errcode
  return code !== undefined && PASSING.has(code & 0xff)
}
