import type { ErrorDetail, ErrorCode as ServiceCode } from './types.ts'

/** What can go wrong: the codes of the service, and what happens on the way to it. */
export type ErrorCode = ServiceCode | 'connection_failed' | 'timeout' | 'aborted'

export interface ErrorOptions {
  status?: number | undefined
  requestId?: string | undefined
  details?: ErrorDetail[] | undefined
  retryAfter?: number | undefined
  cause?: unknown
}

/** The one error that this client throws. */
export class ReparteeError extends Error {
  readonly code: ErrorCode
  /** The HTTP status; undefined where there was no answer, and for an error that came on a stream. */
  readonly status: number | undefined
  /** Finds the request in the log of the service. */
  readonly requestId: string | undefined
  /** The places of the request that are at fault. */
  readonly details: ErrorDetail[]
  /** Seconds after which trying again makes sense. */
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

interface ErrorBody {
  error?: { code: ServiceCode; message: string; requestId?: string; details?: ErrorDetail[] }
}

/** What a stream says of a turn that failed. */
export const fromBody = ({ code, message, requestId, details }: NonNullable<ErrorBody['error']>, more: ErrorOptions = {}) =>
  new ReparteeError(code, message, { requestId, details, ...more })

/** The error of an answer that is no success. Something between here and the service may have answered in its place. */
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

/** What proxies mean by the answers that they make themselves. */
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
