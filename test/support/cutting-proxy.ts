import { connect, createServer, type Server, type Socket } from 'node:net'
import { listen } from './cleanup.ts'

/** The end of PostgreSQL's response when everything is done and no transaction is open. */
const DONE = Buffer.from('Z\0\0\0\x05I')

/** Terminate, a PostgreSQL message without a response. */
const GOODBYE = 'X'.charCodeAt(0)

/** A proxy in front of a server, such as a database, that cuts connections on demand. */
export class CuttingProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #frozen = new WeakSet<Socket>()
  #isRefusing = false
  /** Number of writes lost on frozen connections, without the Terminate message of closed ones. */
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

  /** Cuts the next PostgreSQL connection that sends a text: the server executes the request but its response is lost. Resolves afterwards. */
  cutAfter(text: string): Promise<void> {
    return new Promise((tell) => {
      this.#until = { text, tell }
    })
  }

  /** Freezes the open connections: they stay open but transfer nothing. New connections work. */
  freeze(): void {
    for (const socket of this.#open) this.#frozen.add(socket)
  }

  /** Breaks every connection. New connections work. */
  cut(): void {
    for (const socket of this.#open) socket.destroy()
  }

  /** Breaks every connection and rejects new ones until `mend` is called. */
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
