import { ReparteeError } from 'repartee-client'
import type { Same } from '../texts/define.ts'

/** An error as it is shown. It contains everything that the service reports. */
export interface Failure {
  code: string
  message: string
  requestId: string | undefined
  /** Errors of individual fields of the request. */
  details: readonly { path: string; message: string }[]
}

export function toFailure(error: unknown, texts: Same<{ noConnection: string }>): Failure {
  if (!(error instanceof ReparteeError)) {
    return {
      code: 'internal_error',
      message: error instanceof Error ? error.message : String(error),
      requestId: undefined,
      details: [],
    }
  }
  const { code, message, requestId, details } = error
  return { code, message: code === 'connection_failed' ? texts.noConnection : message, requestId, details }
}

export const isNotFound = (error: unknown) => error instanceof ReparteeError && error.status === 404
export const isUnauthorized = (error: unknown) => error instanceof ReparteeError && error.status === 401

/** Error messages of the service by path of the field: `name`, `retrieval.topK`, `starters.2`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ReparteeError)) return {}
  const found: Record<string, string> = {}
  for (const { path, message } of error.details) {
    const field = path.replace(/^body\.?/, '').replace(/\[(\d+)\]/g, '.$1')
    found[field] = found[field] === undefined ? message : `${found[field]} ${message}`
  }
  return found
}
