import { connect, createServer, type Socket } from 'node:net'

/** Of requests: a query, the end of an extended query, and the end of the connection. */
const ENDS = new Set(['Q', 'S', 'X'])
/** Of a client that begins: it has no type. */
const START_LENGTH = 4

/** Splits what a connection sends into messages of the protocol of PostgreSQL. */
class Messages {
  #rest: Buffer = Buffer.alloc(0)
  #isTyped: boolean

  /** `isTyped`: false for a client, whose first message has no type. */
  constructor(isTyped: boolean) {
    this.#isTyped = isTyped
  }

  /** Yields the messages that are complete. The type is empty for the first of a client. */
  *add(data: Buffer): Generator<{ type: string; message: Buffer }> {
    this.#rest = Buffer.concat([this.#rest, data])
    for (;;) {
      const offset = this.#isTyped ? 1 : 0
      if (this.#rest.length < offset + START_LENGTH) return
      const length = offset + this.#rest.readInt32BE(offset)
      if (this.#rest.length < length) return
      const message = this.#rest.subarray(0, length)
      this.#rest = this.#rest.subarray(length)
      const type = this.#isTyped ? String.fromCharCode(message[0]!) : ''
      this.#isTyped = true
      yield { type, message }
    }
  }
}

/**
 * Stands before a server that mixes messages of its connections, at `port`, and lets them through one exchange after another: from the first message of a query to
 * `ReadyForQuery`, and up to the end of a transaction. Resolves when it listens at `ownPort`.
 */
export async function oneExchangeAtATime(port: number, ownPort: number): Promise<void> {
  const waiting: { client: Socket; send: () => void }[] = []
  let owner: Socket | undefined
  let isBusy = false
  const next = () => {
    const at = waiting.findIndex(({ client }) => owner === undefined || client === owner)
    const [first] = isBusy || at < 0 ? [] : waiting.splice(at, 1)
    if (first === undefined) return
    owner = first.client
    isBusy = true
    first.send()
  }
  const server = createServer((client) => {
    const inner = connect(port, '127.0.0.1')
    const asked = new Messages(false)
    const told = new Messages(true)
    let exchange: Buffer[] = []
    client.on('data', (data) => {
      for (const { type, message } of asked.add(data)) {
        exchange.push(message)
        if (type !== '' && !ENDS.has(type)) continue
        const whole = Buffer.concat(exchange)
        exchange = []
        if (type === 'X') inner.end()
        else waiting.push({ client, send: () => inner.write(whole) })
      }
      next()
    })
    inner.on('data', (data) => {
      client.write(data)
      for (const { type, message } of told.add(data)) {
        if (type !== 'Z') continue
        isBusy = false
        if (message.at(-1) === 'I'.charCodeAt(0)) owner = undefined
      }
      next()
    })
    inner.on('close', () => {
      client.destroy()
      if (owner === client) {
        owner = undefined
        isBusy = false
      }
      for (let at = waiting.length - 1; at >= 0; at--) if (waiting[at]!.client === client) waiting.splice(at, 1)
      next()
    })
    client.on('close', () => inner.end())
    for (const socket of [client, inner]) socket.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve))
}
