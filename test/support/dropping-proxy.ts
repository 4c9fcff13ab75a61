import { createServer, request as httpRequest, type Server } from 'node:http'
import { listen } from './cleanup.ts'

/** A proxy between a client and the service that loses responses on demand. */
export class DroppingProxy {
  readonly #server: Server
  /** Number of further POST requests whose responses are lost. The requests still reach the service. */
  drops = 0
  /** Number of requests that reached the service. */
  passed = 0
  /** If set, the connection is cut when this resolves, without waiting for the response. */
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

  /** Resolves to the URL of the proxy. */
  async start(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
