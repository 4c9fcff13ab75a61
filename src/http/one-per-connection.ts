import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** No client that means well sends so many requests without waiting for an answer. */
const MAX_WAITING = 100

/** Of all connections. Between two turns of the event loop others are served. */
const STARTS_A_TURN = 8
/** Of their bodies. They are held before their caller is known. */
const MAX_WAITING_BYTES = 65_536
/** What a body in chunks counts. */
const CHUNKED_BYTES = 16_384

interface Line {
  /** Requests without an answer. */
  open: number
  /** The requests that wait, oldest first. */
  readonly waiting: { start: () => void; bytes: number }[]
  bytes: number
}

/**
 * Requests that were sent down a connection without waiting for answers are worked on one after the other: a client that does not read holds
 * one answer. A connection on which too many wait, or with too long bodies, is closed: Node would read on and hold them all. The function returns what the
 * request has to wait for, if anything.
 */
export function onePerConnection(): (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined {
  const lines = new WeakMap<Socket, Line>()
  const due: (() => void)[] = []
  const startSome = () => {
    for (const start of due.splice(0, STARTS_A_TURN)) start()
    if (due.length > 0) setImmediate(startSome)
  }
  /** What needs no wait would be answered in the tick that ends the answer before it, and so on to the end of the line. */
  const startSoon = (start: () => void) => {
    if (due.push(start) === 1) setImmediate(startSome)
  }
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
      startSoon(next.start)
    })
    if (++line.open === 1) return undefined
    const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : CHUNKED_BYTES
    line.bytes += bytes
    if (line.open > MAX_WAITING || line.bytes > MAX_WAITING_BYTES) socket.destroy()
    return new Promise((start) => waiting.push({ start, bytes }))
  }
}
