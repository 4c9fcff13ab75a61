/** Beginnings of SQLSTATE that mean "not now": connection, resources, operator, system, a lock not had in time; a server that became a read-only replica. */
const TRANSIENT = /^(08|53|57|58|55P03|25006)/
/** Serialisation failure, deadlock: the transaction is rolled back. */
const RACES = new Set(['40001', '40P01'])
/** The server ends the connection. */
const ENDED = /^(08|57P)/

export interface ServerError extends Error {
  severity: string
  /** SQLSTATE, five characters. */
  code: string
}

/** True for an error that the server answered. Tested by its fields, because deployments without PostgreSQL do not load the driver. */
export const isOfServer = (error: unknown): error is ServerError =>
  error instanceof Error && 'severity' in error && 'code' in error

const codeOf = (error: unknown): string => (isOfServer(error) ? String(error.code) : '')

/** What a statement itself did wrong comes from the server with a code, everything else of the driver's from the connection. */
const ofConnection = (error: unknown): boolean =>
  error instanceof Error &&
  !isOfServer(error) &&
  (typeof (error as NodeJS.ErrnoException).code === 'string' ||
    /connect|terminated|timeout|closed|not queryable/i.test(error.message))

/** True if the list had a `condition` that did not hold. */
export const isConditionFailed = (error: unknown): boolean => codeOf(error) === '22012'

/** True for an error of the server that may be over when the same is tried again. */
export const isTransientOfPostgres = (error: unknown): boolean => TRANSIENT.test(codeOf(error)) || lostTheRace(error)

/** True where another transaction was in the way, and nothing of this one was written. */
export const lostTheRace = (error: unknown): boolean => RACES.has(codeOf(error))

/** True where the connection is of no more use. */
export const isLost = (error: unknown): boolean => ofConnection(error) || ENDED.test(codeOf(error))

/** True where somebody else held a lock for too long. */
export const isLocked = (error: unknown): boolean => codeOf(error) === '55P03'

/** True where a statement names a table that is gone. */
export const isTableGone = (error: unknown): boolean => codeOf(error) === '42P01'

/** In words. Where a name has several addresses, that of the first that failed. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError ? reasonOf(error.errors[0]) : error instanceof Error ? error.message : String(error)

/** True where no answer came in time. */
export const isSilence = (error: unknown): boolean => ofConnection(error) && /timeout/i.test((error as Error).message)
