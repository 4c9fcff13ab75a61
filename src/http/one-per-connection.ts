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
    const line = lines.get(socket)
    const earlier = line?.last
    const now: Line = line ?? { last: promise, open: 0 }
    now.last = promise
    if (++now.open > MAX_WAITING) socket.destroy()
    lines.set(socket, now)
    response.once('close', () => {
      if (--now.open === 0) lines.delete(socket)
      resolve()
    })
    return earlier
  }
}
