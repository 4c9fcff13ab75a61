import type { MessagePort } from 'node:worker_threads'
import { type ErrorCode, type ErrorDetail, ReparteeError } from '../core/errors.ts'
import { isPassing } from '../store/passing.ts'

/** What a worker thread can be asked. Arguments and results are copied from thread to thread. */
// biome-ignore lint/suspicious/noExplicitAny: any function may be offered
export type Methods = Record<string, (...args: any[]) => unknown>

export interface Request {
  id: number
  method: string
  args: unknown[]
}

/** What a thread says: the answer to a call, or something of its own, about an agent. */
export type Response = { id: number; value: unknown } | { id: number; error: SentError } | { event: string }

/** An error class does not survive the way between threads; its fields do. */
export interface SentError {
  code: ErrorCode
  message: string
  details: ErrorDetail[] | undefined
  retryAfter: number | undefined
  /** Of a defect: for the log, not for callers. */
  stack: string | undefined
}

export function toSentError(error: unknown): SentError {
  if (error instanceof ReparteeError) {
    const { code, message, details, retryAfter } = error
    return { code, message, details, retryAfter, stack: undefined }
  }
  const stack = error instanceof Error ? error.stack : String(error)
  if (isPassing(error))
    return {
      code: 'unavailable',
      message: 'The knowledge base is out of reach. Try again.',
      details: undefined,
      retryAfter: 1,
      stack,
    }
  return { code: 'internal_error', message: 'The knowledge base failed.', details: undefined, retryAfter: undefined, stack }
}

export function fromSentError({ code, message, details, retryAfter, stack }: SentError): ReparteeError {
  return new ReparteeError(code, message, {
    ...(details === undefined ? {} : { details }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(stack === undefined ? {} : { cause: Object.assign(new Error('in a thread of the knowledge base'), { stack }) }),
  })
}

/** Answers every request on the port with the method of its name. */
export function serve(port: MessagePort, methods: Methods): void {
  port.on('message', async ({ id, method, args }: Request) => {
    let response: Response
    try {
      response = { id, value: await methods[method]!(...args) }
    } catch (error) {
      response = { id, error: toSentError(error) }
    }
    port.postMessage(response)
  })
}
