import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from './cleanup.ts'

/** What becomes of a connection when so many bytes of answers have gone through it. */
export interface Fate {
  afterBytes: number
  /** It is cut; or it stays open, and nothing goes through it any more. */
  how: 'cut' | 'silence'
}

/** Stands between a client and the service, and breaks connections where the test says. */
export class BreakingProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  /** Told of the number of each connection, from 0, and of what is sent on it at first; undefined lets all through. */
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
        // What was written is on its way before the end is.
        if (fate.how === 'cut') near.end(() => near.destroy())
      })
    })
  }

  /** Resolves to its port. */
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
