import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { jsonStream } from './json-stream.ts'

/** A stream holds a few slices, and rows that were read along with them. */
const STREAM_BYTES = 2_097_152

/** A list as JSON text: `head` + items + `tail`. */
export interface ListParts<T> {
  head: string
  slices: AsyncIterable<T[]>
  toItem(item: T): object
  tail: string
}

/** Answers with a list. One of several slices counts as memory of its caller until it is read. Throws `unavailable` if there is no room. */
export function answerList<T>(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { head, slices, toItem, tail }: ListParts<T>,
): Promise<Readable> {
  const onSecond = () => request.server.bufferedBytes.take(request, reply, STREAM_BYTES)
  return jsonStream(head, slices, toItem, tail, onSecond)
}
