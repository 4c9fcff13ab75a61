import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Connections on which nothing was ever asked: browsers and balancers open some ahead. Node does not count them as idle, so that they would hold up an end
 * for as long as it may take. Returns how to close them.
 */
export function watchUnused(server: Server): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
