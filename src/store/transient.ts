import { ReparteeError } from '../core/errors.ts'
import { LeaseLost } from './knowledge/base.ts'
import { isTransientOfPostgres } from './postgres/errors.ts'

/** SQLite result codes of transient errors: busy, locked, out of memory, read-only, I/O, full, cannot open. */
const SQLITE_CODES = new Set([5, 6, 7, 8, 10, 13, 14])

/** Operating system codes of transient errors: no space, no write permission, no descriptors, no memory or processes, a failing disk. */
const SYSTEM_NAMES = new Set('ENOSPC EDQUOT EFBIG EROFS EACCES EPERM EMFILE ENFILE ENOMEM EAGAIN EIO'.split(' '))

/** SQLite's codes for busy and locked: another connection has the lock. */
const BUSY = new Set([5, 6])

/** True for an error of any store engine that may be over on the next try. */
export const isTransient = (error: unknown): boolean =>
  (error instanceof ReparteeError && error.code === 'unavailable') ||
  error instanceof LeaseLost ||
  SQLITE_CODES.has(sqliteCodeOf(error)) ||
  SYSTEM_NAMES.has(nameOf(error)) ||
  isTransientOfPostgres(error)

/** True if another program or connection has the lock. */
export const isBusy = (error: unknown): boolean => BUSY.has(sqliteCodeOf(error))

/** Returns 0 if it is not an error of SQLite. */
export const sqliteCodeOf = (error: unknown): number => ((error as { errcode?: number } | null)?.errcode ?? 0) & 0xff

const nameOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? ''
