import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Node parses all bytes that it receives at once, with a callback for each chunk of a body. */
const SLICE_BYTES = 4_096
const END_OF_HEAD = Buffer.from('\r\n\r\n')
/** Waiting requests that are parsed in one turn of the event loop, over all connections. Other work runs between two turns. */
const HEADS_A_TURN = 8

/** Node's HTTP parser of a connection. Node reuses a parser for other connections. */
interface Parser {
  /** The request whose head was parsed last. */
  incoming: IncomingMessage | null
}
type Parsed = Socket & { parser?: Parser | null }

const connections = new WeakMap<Socket, Connection>()

/**
 * Passes the data of a connection to the server's parser in slices of 4,096 bytes at most. Passes a request only after the one before it is answered: a read
 * has room for a thousand pipelined requests, and Node buffers all that it parses ahead. Calls `goesOn` before each slice, and drops the remaining data once it
 * returns false. Calls `drop` when Node itself has dropped data.
 */
export function readHeadsInTurn(socket: Socket, goesOn: () => boolean, drop: () => void): void {
  const connection = new Connection(socket, socket.push.bind(socket), goesOn, drop)
  connections.set(socket, connection)
  socket.push = (read: Buffer | null) => connection.take(read)
}

/** Delays later requests of the connection until this one is answered. Call it before anything else is done with a request. */
export const waitForAnswer = ({ socket }: IncomingMessage, response: ServerResponse): void =>
  connections.get(socket)?.waitFor(response)

class Connection {
  readonly #socket: Parsed
  readonly #push: (read: Buffer | null) => boolean
  readonly #goesOn: () => boolean
  readonly #drop: () => void
  /** The body whose end has not arrived yet. */
  #body: Body | undefined
  /** How many bytes of the end of a head arrived last, 0 to 3. */
  #begun = 0
  /** Whether a request is not answered yet. */
  #isOpen = false
  /** Unparsed data, in one buffer: a buffer for each read would take twenty times the size of a small read. */
  #held: Buffer | undefined
  #hasEnded = false
  #isWaiting = false

  constructor(socket: Parsed, push: (read: Buffer | null) => boolean, goesOn: () => boolean, drop: () => void) {
    this.#drop = drop
    this.#socket = socket
    this.#push = push
    this.#goesOn = goesOn
  }

  waitFor(response: ServerResponse): void {
    this.#isOpen = true
    response.once('close', () => {
      this.#isOpen = false
      this.#takeTurn()
    })
  }

  take(read: Buffer | null): boolean {
    if (read === null) {
      if (this.#held === undefined) return this.#push(null)
      this.#hasEnded = true
      return false
    }
    const rest = this.#held === undefined ? this.#parse(read) : Buffer.concat([this.#held, read])
    if (rest === undefined) return true
    // While data waits here, the socket is not read. More data stays in the kernel: a caller that sends a byte now and then does not count as reading its
    // response. `_read` is replaced because a stream continues to read by itself.
    this.#held = rest
    this.#socket._read = () => {}
    this.#takeTurn()
    return false
  }

  /** An unanswered request delays the next one. It never delays its own body, even if `#body` is wrong about the end. */
  get #mustWait(): boolean {
    return this.#isOpen && this.#body === undefined && this.#socket.parser?.incoming?.complete !== false
  }

  #takeTurn(): void {
    if (this.#mustWait || this.#isWaiting || (this.#held === undefined && !this.#hasEnded)) return
    this.#isWaiting = true
    takeTurn(() => this.#goOn())
  }

  /** Parses the waiting data up to the end of the next request, or passes on the end of the connection. */
  #goOn(): void {
    this.#isWaiting = false
    const held = this.#held
    if (this.#socket.destroyed) this.#held = undefined
    else if (held === undefined) {
      this.#hasEnded = false
      this.#push(null)
      this.#socket.read(0)
    } else {
      this.#held = this.#parse(held)
      if (this.#held === undefined) this.#readOn()
      // The end of the connection follows one turn later: a request that ends together with it would count as aborted.
      this.#takeTurn()
    }
  }

  #readOn(): void {
    delete (this.#socket as { _read?: unknown })._read
    this.#socket._read(0)
  }

  /** Parses bytes up to the end of the next request. Returns the bytes that follow it; undefined if all were parsed. */
  #parse(read: Buffer): Buffer | undefined {
    let heads = 0
    for (let at = 0; at < read.length; ) {
      if (!this.#goesOn()) return undefined
      if (this.#body !== undefined) {
        const slice = read.subarray(at, at + SLICE_BYTES)
        const bytes = this.#body.skip(slice)
        if (bytes !== undefined) this.#body = undefined
        this.#push(bytes === undefined ? slice : slice.subarray(0, bytes))
        at += bytes ?? slice.length
        continue
      }
      if (this.#mustWait || heads > 0) return read.subarray(at)
      const endOfHead = this.#findEnd(read, at)
      const end = Math.min(endOfHead?.next ?? read.length, at + SLICE_BYTES)
      const before = this.#socket.parser?.incoming
      this.#push(at === 0 && end === read.length ? read : read.subarray(at, end))
      if (endOfHead !== undefined && end === endOfHead.next) {
        heads++
        this.#begun = begunIn(read, endOfHead.head, end, 0)
        this.#expectBody(before, read, endOfHead.head, end)
      } else this.#begun = begunIn(read, at, end, this.#begun)
      at = end
    }
    return undefined
  }

  /**
   * Returns where the next head ends, and where to stop parsing: at the end of the head, or at the end of a short read without a further head. Undefined if the
   * head does not end in this read.
   */
  #findEnd(read: Buffer, at: number): { head: number; next: number } | undefined {
    const head = endOfHead(read, at, this.#begun)
    if (head === undefined) return undefined
    const isAlone = read.length - at <= SLICE_BYTES && (head === read.length || read.indexOf(END_OF_HEAD, head) < 0)
    return { head, next: isAlone ? read.length : head }
  }

  /** Records the body of a request whose head was just parsed. The bytes from `head` to `end` follow the head and were parsed with it. */
  #expectBody(before: IncomingMessage | null | undefined, read: Buffer, head: number, end: number): void {
    const request = this.#socket.parser?.incoming
    // A paused connection parses later: then every blank line counts as the end of a head.
    if (!request || request === before || this.#socket.readableLength > 0) return
    const { 'content-length': length, 'transfer-encoding': encoding, upgrade } = request.headers
    const body = encoding === undefined ? new LongBody(Number(length ?? 0)) : new ChunkedBody()
    const bytes = body.skip(read.subarray(head, end))
    // If a request has an `Upgrade` header, Node drops the bytes that follow its body in the same slice.
    if (upgrade !== undefined && bytes !== undefined && bytes < end - head) this.#drop()
    if (request.complete || bytes !== undefined) return
    this.#body = body
    this.#begun = 0
  }
}

interface Body {
  /** Returns where the body ends in `read`; undefined if it continues after `read`. */
  skip(read: Buffer): number | undefined
}

class LongBody implements Body {
  #left: number

  constructor(bytes: number) {
    this.#left = bytes
  }

  skip({ length }: Buffer): number | undefined {
    const bytes = this.#left
    this.#left -= length
    return this.#left > 0 ? undefined : bytes
  }
}

const LINE_FEED = 10
/** A size may have any number of leading zeros. Node refuses longer chunk extensions. */
const MAX_LINE_CHARS = 16_384

/** A chunked body (RFC 9112, 7.1). Node's parser refuses a malformed one. */
class ChunkedBody implements Body {
  /** Remaining bytes of the current chunk, including its line break. */
  #left = 0
  #line = ''
  #isTrailer = false

  skip(read: Buffer): number | undefined {
    for (let at = 0; at < read.length; ) {
      if (this.#left > 0) {
        const bytes = Math.min(this.#left, read.length - at)
        this.#left -= bytes
        at += bytes
        continue
      }
      const end = read.indexOf(LINE_FEED, at)
      this.#line += read.toString('latin1', at, Math.min(end < 0 ? read.length : end, at + MAX_LINE_CHARS - this.#line.length))
      if (end < 0) return undefined
      at = end + 1
      const line = this.#line
      this.#line = ''
      if (this.#isTrailer && line === '\r') return at
      if (this.#isTrailer) continue
      const size = Number.parseInt(line, 16)
      if (size > 0) this.#left = size + 2
      else this.#isTrailer = true
    }
    return undefined
  }
}

/** Returns where the head that begins at `at` ends. `begun`: how many bytes of the end of the head arrived before `at`. */
function endOfHead(read: Buffer, at: number, begun: number): number | undefined {
  const left = END_OF_HEAD.length - begun
  if (begun > 0 && read.length - at >= left && END_OF_HEAD.compare(read, at, at + left, begun) === 0) return at + left
  const found = read.indexOf(END_OF_HEAD, at)
  return found < 0 ? undefined : found + END_OF_HEAD.length
}

/** Returns how many bytes of the end of a head the data up to `end` ends with. `begun`: the same for the data before `at`. */
function begunIn(read: Buffer, at: number, end: number, begun: number): number {
  let bytes = end - at < 3 ? begun : 0
  for (let i = Math.max(at, end - 3); i < end; i++) {
    if (read[i] === END_OF_HEAD[bytes]) bytes++
    else bytes = read[i] === END_OF_HEAD[0] ? 1 : 0
  }
  return bytes
}

const waiting: (() => void)[] = []
let isDue = false

function takeTurn(goOn: () => void): void {
  waiting.push(goOn)
  if (!isDue) setImmediate(nextTurn)
  isDue = true
}

function nextTurn(): void {
  for (const goOn of waiting.splice(0, HEADS_A_TURN)) goOn()
  isDue = waiting.length > 0
  if (isDue) setImmediate(nextTurn)
}
