/** Result codes of SQLite that mean "not now" and not "never": busy, locked, out of memory, read-only, I/O, full, cannot open. */
const PASSING = new Set([5, 6, 7, 8, 10, 13, 14])

/** The same of the operating system: no room, no right to write, no descriptors, a disk that fails. */
const PASSING_NAMES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOMEM', 'EIO'])

/** Of those of SQLite the ones that say that somebody else holds it: busy, locked. */
const BUSY = new Set([5, 6])

/** True for an error of SQLite, or of a file, that trying again may be over. */
export const isPassing = (error: unknown): boolean => PASSING.has(sqliteCodeOf(error)) || PASSING_NAMES.has(nameOf(error))

/** True where another program, or another connection, holds what is needed. */
export const isBusy = (error: unknown): boolean => BUSY.has(sqliteCodeOf(error))

/** 0 where it is no error of SQLite. */
export const sqliteCodeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff

const nameOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? ''
