import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** No client that means well sends so many requests without waiting for an answer. */
const MAX_WAITING = 100

interface Line {
  /** Resolves when the newest request is answered. */
  last: Promise<void>
  /** Requests without an answer. */
  open: number
}

/**
 * Requests that were sent down a connection without waiting for answers are worked on one after the other: a client that does not read holds
 * one answer. A connection on which too many wait is closed: Node would read on and hold them all.
 */
export function onePerConnection(): (socket: Socket, response: ServerResponse) => Promise<void> | undefined {
  const lines = new WeakMap<Socket, Line>()
  return (socket, response) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let line = lines.get(socket)
    if (line === undefined) {
      line = { last: promise, open: 0 }
      lines.set(socket, line)
    }
    const earlier = line.open === 0 ? undefined : line.last
    line.last = promise
    if (++line.open > MAX_WAITING) socket.destroy()
    response.once('close', () => {
      line.open--
      resolve()
    })
    return earlier
  }
}
