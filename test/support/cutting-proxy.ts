import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { listen } from './cleanup.ts'

/** What the server is doing by then is done. */
const DONE_AFTER_MS = 200

/** Stands before a server, such as a database, and cuts connections to it when told to. */
export class CuttingProxy {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #frozen = new WeakSet<Socket>()
  #isRefusing = false
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
      let isSilent = false
      near.on('data', (chunk: Buffer) => {
        if (this.#frozen.has(near)) return
        far.write(chunk)
        if (this.#until === undefined || !chunk.includes(this.#until.text)) return
        const { tell } = this.#until
        this.#until = undefined
        isSilent = true
        void pause(DONE_AFTER_MS).then(() => {
          near.destroy()
          tell()
        })
      })
      far.on('data', (chunk: Buffer) => {
        if (!isSilent && !this.#frozen.has(near)) near.write(chunk)
      })
    })
  }

  async listen(): Promise<number> {
    return listen(this.#server)
  }

  /** The next connection on which a text is sent breaks: the server gets it and does it, its answer is lost. Resolves when that has happened. */
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
