import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes each connection that is one too many. Returns how to close those on which nothing was ever asked: browsers and balancers open some ahead, and Node does not count them as
 * idle, so they would delay an end for as long as it may take.
 */
export function watchConnections(server: Server, mostAtOnce: number): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // Node's own limit is one of each listener.
    if (open.size > mostAtOnce) socket.destroy()
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
