import type { FastifyReply } from 'fastify'
import type { ReparteeError } from '../../core/errors.ts'
import { statusOf, toErrorBody } from './errors.ts'
import { tellQuota } from './rate-limit.ts'

/** What the headers of an answer say of a failure, whatever its body looks like. */
export function tellError(reply: FastifyReply, error: ReparteeError): void {
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="repartee"')
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  if (error.quota !== undefined) tellQuota(reply, error.quota, error.retryAfter!)
}

/** The one shape of every failure under `/v1`. */
export function sendError(reply: FastifyReply, requestId: string, error: ReparteeError): void {
  tellError(reply, error)
  reply
    .code(statusOf[error.code])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, requestId)))
}
