import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls `done` once, when the answer is closed or its connection is; at once if the connection is closed already. Node does not tell of the end of an answer whose
 * connection was closed before its turn, or before somebody listened. Returns a function that forgets `done`.
 */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  // One event can lead to the other, and its listeners are called though they are taken off meanwhile.
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
