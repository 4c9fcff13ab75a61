import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls `done` once, when the response or its connection closes, or immediately if the connection is already closed. The response alone is not enough: Node emits no
 * `close` for a pipelined response whose connection closes before its turn. Returns a function that cancels the call.
 */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  // The socket emits `close` to a copy of its listeners, so removing one inside the event does not stop it.
  let isOpen = true
  const forget = () => {
    isOpen = false
    response.off('close', over)
    socket.off('close', over)
  }
  const over = () => {
    if (!isOpen) return
    forget()
    done()
  }
  if (socket.destroyed) done()
  else {
    response.once('close', over)
    socket.once('close', over)
  }
  return forget
}
