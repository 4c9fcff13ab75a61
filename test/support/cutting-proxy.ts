import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from './cleanup.ts'

/** How PostgreSQL ends its answer when it has done everything that it was asked, and is in no transaction. */
const DONE = Buffer.from('Z\0\0\0\x05I')

/** Terminate, a message of PostgreSQL that has no answer. */
const GOODBYE = 'X'.charCodeAt(0)

/** Stands before a server, such as a database, and cuts connections to it when told to. */
export class CuttingProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #frozen = new WeakSet<Socket>()
  #isRefusing = false
  /** How many writes got lost on frozen connections, without the last one of a connection that is closed. */
  swallowed = 0
  #until: { text: string; tell: () => void } | undefined

  constructor(port: number) {
    this.#server = createServer((near) => {
      if (this.#isRefusing) return void near.on('error', () => {}).destroy()
      const far = connect(port, '127.0.0.1')
      for (const socket of [near, far]) {
        this.#open.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          this.#open.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      let cut: (() => void) | undefined
      near.on('data', (chunk: Buffer) => {
        if (this.#frozen.has(near)) return void (chunk[0] === GOODBYE || this.swallowed++)
        far.write(chunk)
        if (this.#until === undefined || !chunk.includes(this.#until.text)) return
        const { tell } = this.#until
        this.#until = undefined
        cut = () => {
          near.destroy()
          tell()
        }
      })
      far.on('data', (chunk: Buffer) => {
        if (cut === undefined) {
          if (!this.#frozen.has(near)) near.write(chunk)
        } else if (chunk.subarray(-DONE.length).equals(DONE)) cut()
      })
    })
  }

  async listen(): Promise<number> {
    return listen(this.#server)
  }

  /** Cuts the next connection to PostgreSQL on which a text is sent: the server does what it is asked, and its answer is lost. Resolves when that has happened. */
  cutAfter(text: string): Promise<void> {
    return new Promise((tell) => {
      this.#until = { text, tell }
    })
  }

  /** Connections that are open stay open, and nothing goes through them any more; new ones are as before. */
  freeze(): void {
    for (const socket of this.#open) this.#frozen.add(socket)
  }

  /** Every connection breaks; new ones are as before. */
  cut(): void {
    for (const socket of this.#open) socket.destroy()
  }

  /** Every connection breaks, and nobody gets through until it is mended. */
  refuse(): void {
    this.#isRefusing = true
    this.cut()
  }

  mend(): void {
    this.#isRefusing = false
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }
}
