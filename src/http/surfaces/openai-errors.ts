import { type ErrorCode, ReparteeError } from '../../core/errors.ts'
import { statusOf } from '../route/errors.ts'

/** Codes that clients of OpenAI know by another name; the others keep ours. */
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

/** An error in the form of OpenAI's API. `param` names the field at fault, as the caller wrote it. */
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

/** A field that would change what the answer means, and that agents here know nothing of. */
export const unsupported = (path: string, why: string): ReparteeError =>
  new ReparteeError('invalid_request', `${path.replace(/^body\./, '')} ${why}`, { details: [{ path, message: why }] })
