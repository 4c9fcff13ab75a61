import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { jsonStream, type ListParts } from './json-stream.ts'

/** A stream holds a few slices, and rows that were read along with them. */
const STREAM_BYTES = 2_097_152

/** Answers with a list. One of several slices counts as memory of its caller until it is read. Throws `unavailable` if there is no room. */
export function answerList<T>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  list: Omit<ListParts<T>, 'owner'>,
): Promise<Readable> {
  const onSecond = () => request.server.bufferedBytes.take(request, reply, STREAM_BYTES)
  return jsonStream({ ...list, owner: callerIdOf(request.caller!) }, onSecond)
}
