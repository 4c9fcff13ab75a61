import { ReparteeError } from '../core/errors.ts'
import { HoldLost } from './knowledge/base.ts'
import { isTransientOfPostgres } from './postgres/errors.ts'

/** Result codes of SQLite that mean "not now" and not "never": busy, locked, out of memory, read-only, I/O, full, cannot open. */
const SQLITE_CODES = new Set([5, 6, 7, 8, 10, 13, 14])

/** The same of the operating system: no room, no right to write, no descriptors, no memory or processes, a disk that fails. */
const SYSTEM_NAMES = new Set('ENOSPC EDQUOT EFBIG EROFS EACCES EPERM EMFILE ENFILE ENOMEM EAGAIN EIO'.split(' '))

/** Of those of SQLite the ones that say that somebody else holds it: busy, locked. */
const BUSY = new Set([5, 6])

/** True for an error of a store, whatever its engine, that may be over when the same is tried again. */
export const isTransient = (error: unknown): boolean =>
  (error instanceof ReparteeError && error.code === 'unavailable') ||
  error instanceof HoldLost ||
  SQLITE_CODES.has(sqliteCodeOf(error)) ||
  SYSTEM_NAMES.has(nameOf(error)) ||
  isTransientOfPostgres(error)

/** True where another program, or another connection, holds what is needed. */
export const isBusy = (error: unknown): boolean => BUSY.has(sqliteCodeOf(error))

/** 0 where it is no error of SQLite. */
export const sqliteCodeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff

const nameOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? ''
