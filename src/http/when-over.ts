import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Calls `done` once, when the response or its connection closes, or immediately if the connection is already closed. Returns a function that cancels the call.
 */
export function whenOver({ raw: { socket } }: FastifyRequest, { raw: response }: FastifyReply, done: () => void): () => void {
  let isOpen = true
  // A pipelined response that waits for its turn has no connection yet, and Node emits no `close` for it if the connection closes before that.
  const isWaiting = response.socket === null
  const forget = () => {
    isOpen = false
    response.off('close', over)
    if (isWaiting) socket.off('close', over)
  }
  // A response takes its listeners with it. A connection serves more requests: without this its listeners would pile up.
  const over = () => {
    if (!isOpen) return
    isOpen = false
    if (isWaiting) socket.off('close', over)
    done()
  }
  if (socket.destroyed) done()
  else {
    response.on('close', over)
    if (isWaiting) socket.on('close', over)
  }
  return forget
}
