import { type ErrorCode, ReparteeError } from '../../core/errors.ts'
import { statusOf } from '../route/errors.ts'

/** Codes that OpenAI's clients know by another name. The others are unchanged. */
const CODES: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'invalid_api_key',
  agent_not_found: 'model_not_found',
  message_not_found: 'response_not_found',
  rate_limited: 'rate_limit_exceeded',
  quota_exceeded: 'insufficient_quota',
}
const TYPES: Partial<Record<ErrorCode, string>> = {
  unauthorized: 'authentication_error',
  forbidden: 'permission_error',
  rate_limited: 'rate_limit_error',
  quota_exceeded: 'insufficient_quota',
}

export interface OpenAiError {
  message: string
  type: string
  param: string | null
  code: string
}

/** Returns an error in the format of OpenAI's API. `param` names the wrong field, as the caller wrote it. */
export function toOpenAiError({ code, message, details }: ReparteeError): OpenAiError {
  const place = details?.[0]?.path
  const isField = code === 'invalid_request' || code === 'agent_not_found' || code === 'session_not_found'
  return {
    message,
    type: TYPES[code] ?? (statusOf[code] >= 500 ? 'server_error' : 'invalid_request_error'),
    param: isField ? (place?.replace(/^(body|query|path|header)\./, '') ?? null) : null,
    code: CODES[code] ?? code,
  }
}

/** Returns an error for a field that would change the meaning of the answer, and that agents do not support. */
export const unsupported = (path: string, why: string): ReparteeError =>
  new ReparteeError('invalid_request', `${path.replace(/^body\./, '')} ${why}`, { details: [{ path, message: why }] })
