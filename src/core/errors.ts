/** All error codes of the API. `http/errors.ts` maps each to an HTTP status. */
export const errorCodes = [
  'invalid_request',
  'invalid_cursor',
  'unauthorized',
  'forbidden',
  'route_not_found',
  'agent_not_found',
  'session_not_found',
  'message_not_found',
  'document_not_found',
  'source_not_found',
  'key_not_found',
  'user_not_found',
  'webhook_not_found',
  'delivery_not_found',
  'method_not_allowed',
  'request_timeout',
  'session_busy',
  'request_in_progress',
  'turn_cancelled',
  'payload_too_large',
  'unsupported_media_type',
  'idempotency_mismatch',
  'rate_limited',
  'quota_exceeded',
  'headers_too_large',
  'internal_error',
  'model_failed',
  'model_timeout',
  'unavailable',
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** A problem with one field of the request, e.g. `{ path: 'body.name', message: 'must not be blank' }`. */
export interface ErrorDetail {
  path: string
  message: string
}

/** The general error class. Callers see `message` and `details`, so prompts, keys, SQL and file names belong into `cause`. */
export class ReparteeError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  /** Seconds after which a retry makes sense. */
  readonly retryAfter: number | undefined
  /** The daily budget that is used up, if it is a token budget. */
  readonly quota: { name: string; tokens: number } | undefined
  /** True if a retry may succeed in a moment. */
  readonly transient: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: ErrorDetail[] | undefined
      retryAfter?: number | undefined
      quota?: { name: string; tokens: number } | undefined
      transient?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ReparteeError'
    this.code = code
    this.details = options.details
    this.retryAfter = options.retryAfter
    this.quota = options.quota
    this.transient = options.transient ?? false
  }
}

/** Returns an `invalid_request` error about one field. */
export function invalid(path: string, message: string): ReparteeError {
  return new ReparteeError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
}

export const sessionNotFound = () => new ReparteeError('session_not_found', 'There is no such session.')
export const userNotFound = () => new ReparteeError('user_not_found', 'There is no such user.')
export const agentNotFound = () => new ReparteeError('agent_not_found', 'There is no such agent.')
export const keyNotFound = () => new ReparteeError('key_not_found', 'There is no such key.')
export const messageNotFound = () => new ReparteeError('message_not_found', 'There is no such message.')
export const webhookNotFound = () => new ReparteeError('webhook_not_found', 'There is no such webhook.')
export const documentNotFound = () => new ReparteeError('document_not_found', 'There is no such document.')
export const sourceNotFound = () => new ReparteeError('source_not_found', 'There is no such source.')

/** Too many sends wait for the session. */
export const busy = () =>
  new ReparteeError('session_busy', 'Too many messages wait for their turn in this session.', { retryAfter: 1 })
export const waitedTooLong = () =>
  new ReparteeError('session_busy', 'The message waited too long for its turn in this session.', { retryAfter: 1 })
/** Returns the error for turns while the service stops: new turns are rejected and running ones end. */
export const stopping = (details?: ErrorDetail[]) =>
  new ReparteeError('unavailable', 'The service is stopping. Send the message again.', { retryAfter: 5, details })
