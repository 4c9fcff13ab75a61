import type { ErrorCode, ReparteeError } from 'repartee-client'
import type { Labels } from './labels.ts'

const LABELS: Partial<Record<ErrorCode, keyof Labels>> = {
  connection_failed: 'unreachable',
  timeout: 'unreachable',
  unavailable: 'unreachable',
  unauthorized: 'signedOut',
  rate_limited: 'tooMany',
  quota_exceeded: 'quota',
  payload_too_large: 'tooLong',
  invalid_request: 'tooLong',
  session_not_found: 'gone',
  message_not_found: 'gone',
  agent_not_found: 'unreachable',
  forbidden: 'unreachable',
}

/** Returns the error text for visitors. The service's own message is for the developer of the page. */
export const wordsFor = ({ code }: ReparteeError, labels: Labels): string => labels[LABELS[code] ?? 'failed']
