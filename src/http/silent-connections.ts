import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Connections on which nothing was ever said, as browsers open them to have one in hand. To Node they are requests that have begun: without
 * this they would hold up the end of the service. Returns what closes them.
 */
export function watchSilent(server: Server): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
