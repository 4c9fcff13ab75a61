import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls `done` once, when the response or its connection closes, or immediately if the connection is already closed. Returns a function that cancels the call.
 */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  if (socket.destroyed) {
    done()
    return () => {}
  }
  response.once('close', done)
  return () => response.off('close', done)
}
