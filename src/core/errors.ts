/** Every failure that a caller can be told of. The HTTP status of each stands in `http/errors.ts`, nowhere else. */
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

/** One finding about one place of the request, e.g. `{ path: 'body.name', message: 'must not be blank' }`. */
export interface ErrorDetail {
  path: string
  message: string
}

/** The one error class, but for `UnusableModel`, which says more. `message` and `details` are shown to callers: no prompt, key, SQL or file name in them; those go to `cause`. */
export class ReparteeError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetail[] | undefined
  /** Seconds after which trying again makes sense. */
  readonly retryAfter: number | undefined
  /** The budget of the day that is used up, where it is one of tokens. */
  readonly quota: { name: string; tokens: number } | undefined
  /** The same, tried again in a moment, may work. */
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

/** `invalid_request` about one field. */
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
/** The service is stopping: it begins no turn, and ends those that run. */
export const stopping = (details?: ErrorDetail[]) =>
  new ReparteeError('unavailable', 'The service is stopping. Send the message again.', { retryAfter: 5, details })
