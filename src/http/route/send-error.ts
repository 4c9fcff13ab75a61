import type { FastifyReply } from 'fastify'
import type { ReparteeError } from '../../core/errors.ts'
import { statusOf, toErrorBody } from './errors.ts'
import { addQuotaHeaders } from './rate-limit.ts'

/** Sets the headers of an error response, which do not depend on the format of its body. */
export function setErrorHeaders(reply: FastifyReply, error: ReparteeError): void {
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="repartee"')
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  if (error.quota !== undefined) addQuotaHeaders(reply, error.quota, error.retryAfter!)
}

/** Sends an error in the format of all errors under `/v1`. */
export function sendError(reply: FastifyReply, requestId: string, error: ReparteeError): void {
  setErrorHeaders(reply, error)
  reply
    .code(statusOf[error.code])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, requestId)))
}
