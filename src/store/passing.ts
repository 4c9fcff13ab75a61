/** Result codes of SQLite that mean "not now" and not "never": busy, locked, out of memory, read-only, I/O, full, cannot open. */
const PASSING = new Set([5, 6, 7, 8, 10, 13, 14])

/** Of them those that say that somebody else holds it: busy, locked. */
const BUSY = new Set([5, 6])

/** True for an error of SQLite that trying again may be over. */
export const isPassing = (error: unknown): boolean => PASSING.has(codeOf(error))

/** True where another program, or another connection, holds what is needed. */
export const isBusy = (error: unknown): boolean => BUSY.has(codeOf(error))

/** Those that say that a file is not what was written: corrupt, not a database. */
const DAMAGE = new Set([11, 26])

export const isDamage = (error: unknown): boolean => DAMAGE.has(codeOf(error))

const codeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff
