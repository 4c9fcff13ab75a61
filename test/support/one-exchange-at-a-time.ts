import { connect, createServer, type Socket } from 'node:net'

/** Request messages that end an exchange: Query, Sync and Terminate. */
const ENDS = new Set(['Q', 'S', 'X'])
/** Length field of a client's first message, which has no type. */
const START_LENGTH = 4

/** Splits a byte stream into PostgreSQL protocol messages. */
class Messages {
  #rest: Buffer = Buffer.alloc(0)
  #isTyped: boolean

  /** `isTyped` is false for a client, whose first message has no type. */
  constructor(isTyped: boolean) {
    this.#isTyped = isTyped
  }

  /** Yields the complete messages. The type is empty for a client's first message. */
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
 * Starts a proxy at `ownPort` for a server at `port` that mixes up the messages of its connections. The proxy forwards one exchange at a time:
 * from the first message of a query to `ReadyForQuery`, and until the end of a transaction. Resolves when it listens.
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
