import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ReparteeError } from '../core/errors.ts'
import { statusOf, toErrorBody } from './errors.ts'
import { tellQuota } from './rate-limit.ts'

/** A longer rest of a refused body is not read. */
const MOST_UNREAD_BYTES = 104_857_600

/** What the headers of an answer say of a failure, whatever its body looks like. */
export function tellError(reply: FastifyReply, error: ReparteeError): void {
  if (error.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="repartee"')
  if (error.retryAfter !== undefined) reply.header('retry-after', String(error.retryAfter))
  if (error.quota !== undefined) tellQuota(reply, error.quota, error.retryAfter!)
  const request = reply.request.raw
  if (error.code === 'payload_too_large' ? !canReadOn(request) : hasLongBody(request)) reply.header('connection', 'close')
  else if (error.code === 'payload_too_large') reply.removeHeader('connection')
}

/**
 * Returns true if Node may read the rest of a refused body and throw it away. A connection that is closed at once is reset while the
 * caller still writes, and then many callers never see the answer.
 */
const canReadOn = (request: IncomingMessage): boolean =>
  !request.readableDidRead && request.headers['content-length'] !== undefined && !hasLongBody(request)

const hasLongBody = ({ headers }: IncomingMessage): boolean => Number(headers['content-length']) > MOST_UNREAD_BYTES

/** The one shape of every failure under `/v1`. */
export function sendError(reply: FastifyReply, requestId: string, error: ReparteeError): void {
  tellError(reply, error)
  reply
    .code(statusOf[error.code])
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(toErrorBody(error, requestId)))
}
