import { type AddressInfo, createServer, type ListenOptions, Server } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance, FastifyListenOptions } from 'fastify'

/** Listeners per address. */
const LISTENERS = 32
/** More than the queue of a listener for unaccepted connections, which has 511 entries by default. */
const MOST_WAITING = 1_000
const MOST_WAITING_MS = 500
const SHORT_TURN_MS = 0.2
const LOCKED_WITHIN_MS = 2_000
const LOOK_EVERY_MS = 10

/**
 * Listens on one address with several listeners. The system distributes the connections among them. Node.js accepts one connection of a listener in each turn
 * of the event loop: a caller that opens a thousand connections would delay all others by a thousand turns.
 */
export class Listeners {
  readonly #app: FastifyInstance
  readonly #warn: (about: string) => void
  readonly #more: Server[] = []

  constructor(app: FastifyInstance, warn: (about: string) => void = () => {}) {
    this.#app = app
    this.#warn = warn
  }

  /** Resolves to the URL of the address. Rejects with an error of Node.js if listening fails. `port` 0 takes any free port. */
  async open(host: string, port: number): Promise<string> {
    const lock = await lockPort(port, this.#warn)
    try {
      return await this.#open(host, port, lock !== undefined && (await canListen({ host, port: 0, reusePort: true })))
    } finally {
      lock?.close()
    }
  }

  async #open(host: string, port: number, canShare: boolean): Promise<string> {
    // Another process could also share a shared port, so the port must be free. If it is not, listening without `reusePort` rejects.
    const reusePort = canShare && (port === 0 || (await canListen({ host, port })))
    const url = await this.#app.listen({ host, port, reusePort } as FastifyListenOptions)
    if (!reusePort) return url
    const main = this.#app.server
    const { address, port: ownPort } = main.address() as AddressInfo
    while (this.#more.length < LISTENERS - 1) {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => main.emit('connection', socket))
      await listen(server, { host: address, port: ownPort, reusePort: true })
      this.#more.push(server)
    }
    return url
  }

  /** Accepts waiting connections, because closing a listener resets them. */
  async acceptWaiting(): Promise<void> {
    let accepted = 0
    const count = () => {
      accepted++
    }
    const { server } = this.#app
    server.on('connection', count)
    const until = performance.now() + MOST_WAITING_MS
    let before: number
    let turnMs: number
    do {
      before = accepted
      const start = performance.now()
      await nextTurn()
      turnMs = performance.now() - start
      // The last turn must be short: in a longer one, a connection may arrive after Node has checked for new ones.
    } while ((accepted > before || turnMs > SHORT_TURN_MS) && accepted < MOST_WAITING && performance.now() < until)
    server.off('connection', count)
  }

  /** Refuses new connections. Open ones stay open. */
  stop(): void {
    // The `close` of an HTTP server would also close connections whose first request is on its way.
    Server.prototype.close.call(this.#app.server)
    for (const server of this.#more) server.close()
  }

  /** Closes the service. Resolves when no connection is open. */
  async close(): Promise<void> {
    const closed = this.#more.map((server) => new Promise((resolve) => server.close(resolve)))
    await this.#app.close()
    await Promise.all(closed)
  }
}

/**
 * Returns a lock to close after listening has started. Only one process at a time may check whether a port is free and share it among its listeners. Undefined
 * if the system has no such lock, or another program has it.
 */
async function lockPort(port: number, warn: (about: string) => void): Promise<Server | undefined> {
  const lock = createServer()
  for (const until = performance.now() + LOCKED_WITHIN_MS; performance.now() < until; await pause(LOOK_EVERY_MS)) {
    try {
      // An abstract Linux socket is not a file, and ends with its process.
      await listen(lock, { path: `\0repartee/${port}` })
      return lock
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') return undefined
    }
  }
  warn(
    `another program holds the socket @repartee/${port}: the service accepts one connection at a time, and many at once may have to wait`,
  )
  return undefined
}

async function canListen(options: ListenOptions): Promise<boolean> {
  const server = createServer()
  try {
    await listen(server, options)
  } catch {
    return false
  }
  await new Promise((resolve) => server.close(resolve))
  return true
}

function listen(server: Server, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
