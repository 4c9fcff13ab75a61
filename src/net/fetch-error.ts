export type FetchErrorCode = 'address_refused' | 'unreachable' | 'fetch_failed' | 'too_large'

/** Why a page was not had. The message goes behind "The page". */
export class FetchError extends Error {
  override readonly name = 'FetchError'
  readonly code: FetchErrorCode
  /** It may work the next time. */
  readonly transient: boolean
  /** Where the server answered. */
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
