/** SQLSTATE prefixes of transient errors: connection, resources, operator, system, lock timeout, a server that became a read-only replica. */
const TRANSIENT = /^(08|53|57|58|55P03|25006)/
/** Serialization failure, deadlock: the transaction is rolled back. */
const RACES = new Set(['40001', '40P01'])
/** The server ends the connection. */
const ENDED = /^(08|57P)/

export interface ServerError extends Error {
  severity: string
  /** SQLSTATE, five characters. */
  code: string
}

/** True for an error that the server returned. Checks the fields, because deployments without PostgreSQL do not load the driver. */
export const isOfServer = (error: unknown): error is ServerError =>
  error instanceof Error && 'severity' in error && 'code' in error

const codeOf = (error: unknown): string => (isOfServer(error) ? String(error.code) : '')

/** Errors of a statement come from the server with a code. All other errors of the driver are from the connection. */
const ofConnection = (error: unknown): boolean =>
  error instanceof Error &&
  !isOfServer(error) &&
  (typeof (error as NodeJS.ErrnoException).code === 'string' ||
    /connect|terminated|timeout|closed|not queryable/i.test(error.message))

/** True if a `condition` in the list failed. */
export const isConditionFailed = (error: unknown): boolean => codeOf(error) === '22012'

/** True for an error of the server that may be over on the next try. */
export const isTransientOfPostgres = (error: unknown): boolean => TRANSIENT.test(codeOf(error)) || lostTheRace(error)

/** True if the transaction conflicted with another one and wrote nothing. */
export const lostTheRace = (error: unknown): boolean => RACES.has(codeOf(error))

/** True if the connection is unusable. */
export const isLost = (error: unknown): boolean => ofConnection(error) || ENDED.test(codeOf(error))

/** True if a lock was not available in time. */
export const isLocked = (error: unknown): boolean => codeOf(error) === '55P03'

/** True if a statement names a table that does not exist. */
export const isTableGone = (error: unknown): boolean => codeOf(error) === '42P01'

/** Returns the error message. If a host has several addresses, the error of the first one. */
export const reasonOf = (error: unknown): string =>
  error instanceof AggregateError ? reasonOf(error.errors[0]) : error instanceof Error ? error.message : String(error)

/** True if no answer came in time. */
export const isSilence = (error: unknown): boolean => ofConnection(error) && /timeout/i.test((error as Error).message)
