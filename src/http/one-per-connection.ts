import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** No client that means well sends so many requests without waiting for an answer. */
const MAX_WAITING = 100

/** Of their bodies. They are held before their caller is known. */
const MAX_WAITING_BYTES = 65_536
/** What a body in chunks counts. */
const CHUNKED_BYTES = 16_384

interface Line {
  /** Requests without an answer. */
  open: number
  /** Those that wait, oldest first. */
  readonly waiting: { start(): void; bytes: number }[]
  bytes: number
}

/**
 * Requests that were sent down a connection without waiting for answers are worked on one after the other: a client that does not read holds
 * one answer. A connection on which too many wait, or with too long bodies, is closed: Node would read on and hold them all. The function returns what the
 * request has to wait for, if anything.
 */
export function onePerConnection(): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const lines = new WeakMap<Socket, Line>()
  return ({ socket, headers }, response) => {
    let line = lines.get(socket)
    if (line === undefined) {
      line = { open: 0, waiting: [], bytes: 0 }
      lines.set(socket, line)
    }
    const { waiting } = line
    response.on('close', () => {
      line.open--
      const next = waiting.shift()
      if (next === undefined) return
      line.bytes -= next.bytes
      next.start()
    })
    if (++line.open === 1) return undefined
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : CHUNKED_BYTES
    line.bytes += bytes
    if (line.open > MAX_WAITING || line.bytes > MAX_WAITING_BYTES) socket.destroy()
    return new Promise((start) => waiting.push({ start, bytes }))
  }
}
