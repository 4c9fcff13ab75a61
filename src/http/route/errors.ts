import { type ErrorCode, type ErrorDetail, ReparteeError } from '../../core/errors.ts'

/** Maps error codes to HTTP statuses. */
export const statusOf: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_cursor: 400,
  unauthorized: 401,
  forbidden: 403,
  route_not_found: 404,
  agent_not_found: 404,
  session_not_found: 404,
  message_not_found: 404,
  document_not_found: 404,
  source_not_found: 404,
  key_not_found: 404,
  user_not_found: 404,
  webhook_not_found: 404,
  delivery_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  session_busy: 409,
  request_in_progress: 409,
  turn_cancelled: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  rate_limited: 429,
  quota_exceeded: 429,
  headers_too_large: 431,
  internal_error: 500,
  model_failed: 502,
  unavailable: 503,
  model_timeout: 504,
}

export interface ErrorBody {
  success: false
  error: { code: ErrorCode; message: string; requestId: string; details?: ErrorDetail[] }
}

export const toErrorBody = ({ code, message, details }: ReparteeError, requestId: string): ErrorBody => ({
  success: false,
  error: { code, message, requestId, ...(details === undefined ? {} : { details }) },
})

/** Errors that Fastify itself throws, by code. Any other foreign error is a defect. */
const FOREIGN: Record<string, [ErrorCode, string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The body must be sent with Content-Type: application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than this request may have.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as its Content-Length says.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL.'],
}
/** Fastify's body reader marks an aborted body with 400. The same code from another connection, such as the database's, has no such mark. */
const isBrokenBody = ({ code, statusCode }: ForeignError): boolean => code === 'ECONNRESET' && statusCode === 400

type ForeignError = Error & { code?: string; statusCode?: number }

export function toReparteeError(error: unknown): ReparteeError {
  if (error instanceof ReparteeError) return error
  const foreign = error as ForeignError
  if (isBrokenBody(foreign))
    return new ReparteeError('invalid_request', 'The connection closed before the body was complete.', { cause: error })
  const [code, message] = FOREIGN[foreign.code ?? ''] ?? ['internal_error', 'Something went wrong on our side.']
  return new ReparteeError(code, message, { cause: error })
}

/** The time to retry varies, so that rejected callers do not all return at once. */
export const overloaded = () =>
  new ReparteeError('unavailable', 'More comes in than can be done. Try again in a moment.', {
    retryAfter: 1 + Math.floor(Math.random() * 3),
  })
