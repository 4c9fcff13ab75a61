import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** No client that means well sends so many requests without waiting for an answer. */
const MAX_WAITING = 100

interface Line {
  /** Requests without an answer. */
  open: number
  /** Starts each of the requests that wait, oldest first. */
  readonly waiting: (() => void)[]
}

/**
 * Requests that were sent down a connection without waiting for answers are worked on one after the other: a client that does not read holds
 * one answer. A connection on which too many wait is closed: Node would read on and hold them all. The function returns what the request has to
 * wait for, if anything.
 */
export function onePerConnection(): (socket: Socket, response: ServerResponse) => Promise<void> | undefined {
  const lines = new WeakMap<Socket, Line>()
  return (socket, response) => {
    let line = lines.get(socket)
    if (line === undefined) {
      line = { open: 0, waiting: [] }
      lines.set(socket, line)
    }
    const { waiting } = line
    response.on('close', () => {
      line.open--
      waiting.shift()?.()
    })
    if (++line.open > MAX_WAITING) socket.destroy()
    return line.open === 1 ? undefined : new Promise((resolve) => waiting.push(resolve))
  }
}
