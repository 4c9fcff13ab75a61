import type { FastifyReply, FastifyRequest } from 'fastify'

/** Calls `done` once when the response or its connection closes; immediately if it is already closed. Returns a function that cancels this. */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  if (socket.destroyed) {
    done()
    return () => {}
  }
  response.once('close', done)
  return () => response.off('close', done)
}
