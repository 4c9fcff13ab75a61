import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../../core/api-key.ts'
import { type ListParts, textOrStream } from './json-stream.ts'
import { JsonText } from './json-text.ts'

/** A stream contains a few slices, and rows that were read together with them. */
const STREAM_BYTES = 2_097_152

/** Returns a list. If it has several slices, it counts as memory of its caller until it is read. Throws `unavailable` if there is no room. */
export async function answerList<T>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  list: Omit<ListParts<T>, 'owner'>,
): Promise<JsonText | Readable> {
  const onSecond = () => request.server.bufferedBytes.take(request, reply, STREAM_BYTES)
  const answer = await textOrStream({ ...list, owner: callerIdOf(request.caller!) }, onSecond)
  return typeof answer === 'string' ? new JsonText(answer) : answer
}
