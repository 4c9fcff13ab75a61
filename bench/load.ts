import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  /** Raw bytes. A chunked body includes its chunk lengths. */
  body: Buffer
  ms: number
  /** Milliseconds until the mark arrived. */
  markMs: number | undefined
}

/** A persistent connection on a bare socket: an HTTP client that costs far less than what it measures. */
export class Connection {
  readonly #socket: Socket
  #got: Buffer = Buffer.alloc(0)
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined
  #begun = 0
  #mark: string | undefined
  #markMs: number | undefined
  /** Size of the whole response, known after its head. -1 if only its end is known. */
  #size: number | undefined
  #bodyAt = 0

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
    const broken = (error = new Error('the server closed the connection')) => this.#waiting?.reject(error)
    socket.on('error', broken)
    socket.on('close', () => broken())
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new Connection(socket)
  }

  /** Sends a request made by `requestText`. One request at a time. */
  ask(text: string, mark?: string): Promise<Answer> {
    this.#got = this.#got.subarray(0, 0)
    this.#size = undefined
    this.#mark = mark
    this.#markMs = undefined
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#begun = performance.now()
      this.#socket.write(text)
    })
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    const before = this.#got.length
    this.#got = before === 0 ? chunk : Buffer.concat([this.#got, chunk])
    if (this.#mark !== undefined && this.#markMs === undefined && this.#got.includes(this.#mark, Math.max(0, before - 100)))
      this.#markMs = performance.now() - this.#begun
    if (this.#size === undefined) this.#readHead()
    const isWhole = this.#size === -1 ? endsChunks(this.#got) : this.#got.length === this.#size
    if (!isWhole || this.#waiting === undefined) return
    const { resolve } = this.#waiting
    this.#waiting = undefined
    const status = Number(this.#got.toString('latin1', 9, 12))
    resolve({ status, body: this.#got.subarray(this.#bodyAt), ms: performance.now() - this.#begun, markMs: this.#markMs })
  }

  #readHead(): void {
    const end = this.#got.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = /\r\ncontent-length: (\d+)/i.exec(this.#got.toString('latin1', 0, end))
    this.#bodyAt = end + 4
    this.#size = length === null ? -1 : this.#bodyAt + Number(length[1])
  }
}

/** Detects the last chunk. JSON and events never contain these bytes. */
const endsChunks = (bytes: Buffer): boolean => bytes.toString('latin1', bytes.length - 5) === '0\r\n\r\n'

/** Returns a request in its wire format. */
export function requestText(method: string, path: string, headers: Record<string, string>, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const all = {
    host: '127.0.0.1',
    ...headers,
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

export interface Load {
  port: number
  connections: number
  seconds: number
  /** The next request of a connection. Undefined ends the connection. */
  next(connection: number): string | undefined
  mark?: string
  onAnswer?(answer: Answer): void
}

export interface Driven {
  times: number[]
  marks: number[]
  seconds: number
}

/** Sends requests on each connection, one after the other. Throws on a status other than 2xx, because failures must not be measured. */
export async function drive({ port, connections, seconds, next, mark, onAnswer }: Load): Promise<Driven> {
  const open = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)))
  const [times, marks]: number[][] = [[], []]
  const begun = performance.now()
  const until = begun + seconds * 1_000
  try {
    await Promise.all(
      open.map(async (connection, i) => {
        while (performance.now() < until) {
          const text = next(i)
          if (text === undefined) return
          const answer = await connection.ask(text, mark)
          if (answer.status > 299)
            throw new Error(`${text.split('\r\n', 1)[0]}: ${answer.status} ${answer.body.subarray(0, 300)}`)
          times!.push(answer.ms)
          if (answer.markMs !== undefined) marks!.push(answer.markMs)
          onAnswer?.(answer)
        }
      }),
    )
  } finally {
    for (const connection of open) connection.close()
  }
  return { times: times!, marks: marks!, seconds: (performance.now() - begun) / 1_000 }
}
