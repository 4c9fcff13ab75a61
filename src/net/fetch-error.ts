export type FetchErrorCode = 'address_refused' | 'unreachable' | 'fetch_failed' | 'too_large'

/** Why a page could not be fetched. The message follows "The page". */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly code: FetchErrorCode
  /** True if the next try may succeed. */
  readonly transient: boolean
  /** HTTP status, if the server answered. */
  readonly status: number | undefined

  constructor(
    code: FetchErrorCode,
    message: string,
    { transient = false, status, cause }: { transient?: boolean; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.code = code
    this.transient = transient
    this.status = status
  }
}
