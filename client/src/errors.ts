import type { ErrorDetail, ErrorCode as ServiceCode } from './types.ts'

/** All error codes: the codes of the service, plus the client's codes for connection problems. */
export type ErrorCode = ServiceCode | 'connection_failed' | 'timeout' | 'aborted'

export interface ErrorOptions {
  status?: number | undefined
  requestId?: string | undefined
  details?: ErrorDetail[] | undefined
  retryAfter?: number | undefined
  cause?: unknown
}

/** The only error class that this client throws. */
export class ReparteeError extends Error {
  readonly code: ErrorCode
  /** The HTTP status. Undefined if there was no response, or if the error arrived on a stream. */
  readonly status: number | undefined
  /** Identifies the request in the service's log. */
  readonly requestId: string | undefined
  /** The invalid fields of the request. */
  readonly details: ErrorDetail[]
  /** Seconds to wait before a retry. */
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, message: string, { status, requestId, details, retryAfter, cause }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ReparteeError'
    this.code = code
    this.status = status
    this.requestId = requestId
    this.details = details ?? []
    this.retryAfter = retryAfter
  }
}

/** Returns whether the connection was lost, so that the result of the request is unknown. */
export const isConnectionLost = (error: unknown): boolean =>
  error instanceof ReparteeError && (error.code === 'connection_failed' || error.code === 'timeout')

interface ErrorBody {
  error?: { code: ServiceCode; message: string; requestId?: string; details?: ErrorDetail[] }
}

/** Converts the error body of a failed turn. */
export const fromBody = ({ code, message, requestId, details }: NonNullable<ErrorBody['error']>, more: ErrorOptions = {}) =>
  new ReparteeError(code, message, { requestId, details, ...more })

/** Converts a failed response to an error. A proxy may have answered instead of the service. */
export async function fromResponse(response: Response): Promise<ReparteeError> {
  const { status, headers } = response
  const retryAfter = toSeconds(headers.get('retry-after'))
  const requestId = headers.get('x-request-id') ?? undefined
  const text = await response.text().catch(() => '')
  const error = parse(text)?.error
  if (typeof error?.code === 'string') return fromBody(error, { status, retryAfter, requestId: error.requestId ?? requestId })
  const code = FOREIGN[status] ?? 'connection_failed'
  return new ReparteeError(code, `Something other than Repartee answered with status ${status}.`, {
    status,
    requestId,
    retryAfter,
  })
}

/** Codes for responses that a proxy generates itself. */
const FOREIGN: Record<number, ErrorCode> = { 413: 'payload_too_large', 429: 'rate_limited', 503: 'unavailable' }

function parse(text: string): ErrorBody | undefined {
  try {
    return JSON.parse(text) as ErrorBody
  } catch {
    return undefined
  }
}

/** `Retry-After` is a number of seconds, or a date. */
function toSeconds(header: string | null): number | undefined {
  if (header === null || header === '') return undefined
  const seconds = Number(header)
  if (!Number.isNaN(seconds)) return Math.max(0, seconds)
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - Date.now()) / 1_000)
}
