import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls `done` once, when the response or its connection closes, or immediately if the connection is already closed. Returns a function that cancels the call.
 */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  // The socket emits `close` to a copy of its listeners, so removing one inside the event does not stop it.
  let isOpen = true
  // A pipelined response that waits for its turn has no connection yet, and Node emits no `close` for it if the connection closes before that.
  const isWaiting = response.socket === null
  const forget = () => {
    isOpen = false
    response.off('close', over)
    if (isWaiting) socket.off('close', over)
  }
  const over = () => {
    if (!isOpen) return
    forget()
    done()
  }
  if (socket.destroyed) done()
  else {
    response.once('close', over)
    if (isWaiting) socket.once('close', over)
  }
  return forget
}
