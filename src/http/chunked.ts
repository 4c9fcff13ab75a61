import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { ChunkFrames } from '../core/chunk-frames.ts'
import { invalid, type ReparteeError } from '../core/errors.ts'
import { stopParser } from '../core/node-http.ts'
import { PieceCount } from '../core/pieces.ts'
import { networkOf } from '../net/address.ts'

const LEAST_BYTES = 64
const SUSPECT_MS = 3_600_000
const MOST_SUSPECTS = 1_000

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

/** Returns true if a request on the connection was refused before it was parsed, because its chunks are too small. */
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
 * Refuses bodies in small chunks. Node calls back for each chunk of what it has read, and 64 kB may hold ten thousand: that takes longer than many requests. So after
 * the first such body, chunks of its network are counted before Node parses them, for an hour. Other connections are not looked at, because that takes time for every request.
 */
export class SmallChunks {
  readonly #sockets: Iterable<Socket>
  /** By network: until when it is looked at. */
  readonly #suspects = new Map<string, number>()
  readonly #inspected = new WeakSet<Socket>()

  /** `sockets`: the open connections of the server. */
  constructor(server: Server, sockets: Iterable<Socket>) {
    this.#sockets = sockets
    server.on('connection', (socket) => {
      if (this.#suspects.size === 0) return
      const until = this.#suspects.get(networkOfPeer(socket))
      if (until !== undefined && until > performance.now()) this.#inspect(socket)
    })
  }

  /** Call it as soon as the head of a request is parsed, because its chunks may come along. Closes the connection after a response that is sent before the end of the body. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (!isChunked(request)) return
    // Node would otherwise read the rest, chunk by chunk.
    response.once('finish', () => {
      if (!request.complete) request.socket.destroySoon()
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
      this.#suspect(request.socket)
      return true
    }
  }

  #suspect(socket: Socket): void {
    const network = networkOfPeer(socket)
    this.#suspects.delete(network)
    this.#suspects.set(network, performance.now() + SUSPECT_MS)
    if (this.#suspects.size > MOST_SUSPECTS) this.#suspects.delete(this.#suspects.keys().next().value!)
    for (const other of this.#sockets) if (networkOfPeer(other) === network) this.#inspect(other)
  }

  #inspect(socket: Socket): void {
    if (this.#inspected.has(socket)) return
    this.#inspected.add(socket)
    const chunks = new RequestChunks()
    const look = (read: Buffer) => {
      if (!chunks.areTooSmall(read)) return
      refused.add(socket)
      stopParser(read)
    }
    // The parser reads by itself until `on` is called. It must come behind this listener.
    socket.on('data', look)
    socket.removeListener('data', look)
    socket.prependListener('data', look)
  }
}

const networkOfPeer = ({ remoteAddress = '' }: Socket): string => networkOf(remoteAddress)

const WORD = /chunked/gi
const WORD_CHARS = 'chunked'.length
const HEAD_END = /\r?\n\r?\n/g
const HEAD_END_CHARS = 4

/** Counts the chunks of what a connection sends. Takes for chunks what follows a head, or another text, with the word `chunked`; most other bytes do not read like chunks. */
class RequestChunks {
  #frames: ChunkFrames | undefined
  /** The word has come, and the end of its head has not. */
  #isInHead = false
  /** What may be the beginning of the word, or of the end of a head. */
  #rest = ''

  areTooSmall(read: Buffer): boolean {
    let text: string | undefined
    const before = this.#rest.length
    let at = 0
    while (at < read.length) {
      if (this.#frames !== undefined) {
        const end = this.#frames.add(read, at)
        if (end === undefined) return true
        at = end
        if (this.#frames.isOver) this.#frames = undefined
        continue
      }
      text ??= this.#rest + read.toString('latin1')
      this.#rest = ''
      const start = at === 0 ? 0 : at + before
      const next = this.#isInHead ? endOf(HEAD_END, text, start) : endOf(WORD, text, start)
      if (next === undefined) {
        this.#rest = text.slice(Math.max(start, text.length + 1 - (this.#isInHead ? HEAD_END_CHARS : WORD_CHARS)))
        return false
      }
      at = next - before
      if (this.#isInHead) this.#frames = new ChunkFrames(LEAST_BYTES)
      this.#isInHead = !this.#isInHead
    }
    return false
  }
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}
