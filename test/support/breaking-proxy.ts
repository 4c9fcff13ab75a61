import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from './cleanup.ts'

/** A fault of a connection after this many bytes of responses. */
export interface Fate {
  afterBytes: number
  /** `cut` closes the connection. `silence` leaves it open but forwards nothing. */
  how: 'cut' | 'silence'
}

/** A proxy between a client and the service that breaks connections as the test requires. */
export class BreakingProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** Receives the number of each connection, from 0, and its first bytes. Undefined forwards everything. */
  fate: (connection: number, firstBytes: string) => Fate | undefined = () => undefined
  connections = 0

  constructor(port: () => number) {
    this.#server = createServer((near) => {
      const number = this.connections++
      const far = connect(port(), '127.0.0.1')
      this.#keep(near, far)
      let fate: Fate | undefined
      let passed = 0
      let isSilent = false
      near.once('data', (chunk: Buffer) => {
        fate = this.fate(number, chunk.toString('latin1'))
      })
      near.on('data', (chunk: Buffer) => void far.write(chunk))
      far.on('data', (chunk: Buffer) => {
        if (isSilent) return
        const room = fate === undefined ? chunk.length : Math.min(chunk.length, fate.afterBytes - passed)
        passed += room
        if (room > 0) near.write(chunk.subarray(0, room))
        if (fate === undefined || passed < fate.afterBytes) return
        isSilent = true
        // `end` sends the written bytes first.
        if (fate.how === 'cut') near.end(() => near.destroy())
      })
    })
  }

  /** Resolves to the port. */
  async listen(): Promise<number> {
    return listen(this.#server)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #keep(near: Socket, far: Socket): void {
    for (const socket of [near, far]) {
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
  }
}
