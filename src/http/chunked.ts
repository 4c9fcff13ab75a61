import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { ChunkFrames } from '../core/chunk-frames.ts'
import { invalid, type ReparteeError } from '../core/errors.ts'
import { stopParser } from '../core/node-http.ts'
import { PieceCount } from '../core/pieces.ts'
import { networkOf } from '../net/address.ts'

const LEAST_BYTES = 64
const INSPECTED_MS = 3_600_000
const MOST_NETWORKS = 1_000

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined

/** What a body in small chunks is refused with. */
export const smallChunks = (): ReparteeError =>
  invalid('body', `comes in chunks that are too small: send ${LEAST_BYTES} bytes or more in each`)

interface ChunkedBody {
  isRefused: boolean
  refuse(): void
}

const bodies = new WeakMap<IncomingMessage, ChunkedBody>()
const refused = new WeakSet<Socket>()

/** Returns true if what the connection sent was not parsed because its chunks are too small. */
export const hasSmallChunks = (socket: Socket): boolean => refused.has(socket)

/** Returns the body of a request. It fails with `invalid_request` if its chunks are too small. */
export function withoutSmallChunks(request: IncomingMessage, body: Readable): Readable {
  const chunked = bodies.get(request)
  if (chunked === undefined) return body
  const checked = new PassThrough()
  chunked.refuse = () => checked.destroy(smallChunks())
  if (chunked.isRefused) chunked.refuse()
  body.on('error', (error) => checked.destroy(error))
  return body.pipe(checked)
}

/**
 * Refuses bodies in small chunks. Node calls back for each chunk of what it has read, and 64 kB may hold ten thousand: that takes longer than many requests. So where a
 * network sends a chunked body, its connections are looked at before Node parses what they send, for an hour. Others are not, because that takes time for every request.
 */
export class SmallChunks {
  readonly #sockets: Iterable<Socket>
  /** Networks that have sent chunked bodies, and until when they are looked at. */
  readonly #networks = new Map<string, number>()
  readonly #inspected = new WeakSet<Socket>()

  /** `sockets`: the open connections of the server. */
  constructor(server: Server, sockets: Iterable<Socket>) {
    this.#sockets = sockets
    server.on('connection', (socket) => {
      if (this.#networks.size > 0 && this.#isKnown(networkOfPeer(socket))) this.#inspect(socket)
    })
  }

  /** Call it as soon as the head of a request is parsed, because its chunks may come along. Closes the connection after a response that is sent before the end of the body. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (!isChunked(request)) return
    const { socket } = request
    this.#inspectNetworkOf(socket)
    response.once('finish', () => {
      if (request.complete) this.#inspect(socket)
      // Node would otherwise read the rest, chunk by chunk.
      if (!this.#inspected.has(socket) || !request.complete) socket.destroySoon()
    })
    const body: ChunkedBody = { isRefused: false, refuse: () => {} }
    bodies.set(request, body)
    const pieces = new PieceCount(LEAST_BYTES)
    const { push } = request
    request.push = (piece) => {
      if (body.isRefused) return true
      if (piece === null || !pieces.isTooMany(piece)) return push.call(request, piece)
      body.isRefused = true
      body.refuse()
      return true
    }
  }

  #isKnown(network: string): boolean {
    return (this.#networks.get(network) ?? 0) > performance.now()
  }

  #inspectNetworkOf(socket: Socket): void {
    const network = networkOfPeer(socket)
    const isKnown = this.#isKnown(network)
    this.#networks.delete(network)
    this.#networks.set(network, performance.now() + INSPECTED_MS)
    if (this.#networks.size > MOST_NETWORKS) this.#networks.delete(this.#networks.keys().next().value!)
    if (isKnown) return
    for (const other of this.#sockets) if (networkOfPeer(other) === network) this.#inspect(other)
  }

  /** Has no effect while a request comes in, because its place is not known. */
  #inspect(socket: Socket): void {
    if (this.#inspected.has(socket) || isInRequest(socket)) return
    this.#inspected.add(socket)
    const frames = new RequestFrames()
    const look = (read: Buffer) => {
      const wrong = frames.add(read)
      if (wrong === undefined) return
      if (wrong === 'small chunks') refused.add(socket)
      stopParser(read)
    }
    // The parser reads by itself until `on` is called. It must come behind this listener.
    socket.on('data', look)
    socket.removeListener('data', look)
    socket.prependListener('data', look)
  }
}

/** Node keeps the newest request of a connection on its parser. */
const isInRequest = (socket: Socket): boolean =>
  (socket as { parser?: { incoming: IncomingMessage | null } }).parser?.incoming?.complete === false

const networkOfPeer = ({ remoteAddress = '' }: Socket): string => networkOf(remoteAddress)

/** Node ends most of what is longer. */
const MOST_HEAD_CHARS = 32_768
const HEAD_END = /\r?\n\r?\n/g
const LINE_END = /\r?\n/y
const ENCODED = /^transfer-encoding:/im
const LENGTH = /^content-length:[ \t]*(\d+)/im

/** Follows the requests of a connection (RFC 9112), and counts their chunks. */
class RequestFrames {
  /** Bytes that have not arrived of a body with `Content-Length`. */
  #left = 0
  #chunks: ChunkFrames | undefined
  /** True between the last chunk of a body and the end of its trailer fields. */
  #isBehindChunks = false
  /** The beginning of a head whose end has not arrived. */
  #head = ''

  /** Returns what is wrong with bytes that were read next. */
  add(read: Buffer): 'small chunks' | 'a long head' | undefined {
    const before = this.#head.length
    let text: string | undefined
    let at = 0
    while (at < read.length) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, read.length - at)
        this.#left -= skipped
        at += skipped
      } else if (this.#chunks !== undefined) {
        const end = this.#chunks.add(read, at)
        if (end === undefined) return 'small chunks'
        at = end
        this.#isBehindChunks = this.#chunks.isOver
        if (this.#isBehindChunks) this.#chunks = undefined
      } else {
        text ??= this.#head + read.toString('latin1')
        const start = at === 0 ? 0 : at + before
        const end = this.#endOfHead(text, start)
        if (end === undefined) {
          this.#head = text.slice(start)
          return this.#head.length > MOST_HEAD_CHARS ? 'a long head' : undefined
        }
        this.#head = ''
        at = end - before
        if (!this.#isBehindChunks) this.#beginBody(text.slice(start, end))
        this.#isBehindChunks = false
      }
    }
    return undefined
  }

  #endOfHead(text: string, start: number): number | undefined {
    LINE_END.lastIndex = start
    if (this.#isBehindChunks && LINE_END.test(text)) return LINE_END.lastIndex
    HEAD_END.lastIndex = start
    return HEAD_END.test(text) ? HEAD_END.lastIndex : undefined
  }

  #beginBody(head: string): void {
    if (ENCODED.test(head)) this.#chunks = new ChunkFrames(LEAST_BYTES)
    else this.#left = Number(LENGTH.exec(head)?.[1] ?? 0)
  }
}
