import { createServer, request as httpRequest, type Server } from 'node:http'
import { listen } from './cleanup.ts'

/** Stands between a client and the service, and loses answers when told to. */
export class DroppingProxy {
  readonly #server: Server
  /** So many requests still reach the service whose answers do not come back. */
  drops = 0
  /** What reached the service. */
  passed = 0
  /** Called instead of waiting for the answer before the connection is cut. */
  cutWhen: Promise<unknown> | undefined

  constructor(target: () => string) {
    this.#server = createServer((near, back) => {
      const url = new URL(near.url!, target())
      const isLost = near.method === 'POST' && this.drops > 0
      if (isLost) this.drops--
      const far = httpRequest(url, { method: near.method, headers: { ...near.headers, host: url.host } }, (answer) => {
        if (!isLost) return void answer.pipe(back.writeHead(answer.statusCode!, answer.headers))
        answer.resume().on('end', () => near.socket.destroy())
      })
      far.on('error', () => near.socket.destroy())
      near.pipe(far)
      this.passed++
      if (isLost) void this.cutWhen?.then(() => near.socket.destroy())
    })
  }

  /** Resolves to where it listens. */
  async start(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
