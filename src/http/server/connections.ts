import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes connections above the limit. Returns a function that closes connections without any request. Browsers and load balancers open spare ones, and Node
 * does not count them as idle, so they would delay the shutdown.
 */
export function watchConnections(server: Server, mostAtOnce: number): () => void {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // Node's own limit applies to each listener separately.
    if (open.size > mostAtOnce) socket.destroy()
  })
  return () => {
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy()
  }
}
