import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { invalid, type ReparteeError } from '../core/errors.ts'
import { PieceCount } from '../core/pieces.ts'
import { readInSlices } from '../core/slices.ts'
import { networkOf } from '../net/address.ts'

const LEAST_BYTES = 64
const SLICED_MS = 3_600_000
const MOST_NETWORKS = 1_000

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined

const smallChunks = (): ReparteeError =>
  invalid('body', `comes in chunks that are too small: send ${LEAST_BYTES} bytes or more in each`)

interface ChunkedBody {
  isRefused: boolean
  refuse(): void
}

const bodies = new WeakMap<IncomingMessage, ChunkedBody>()

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
 * Refuses bodies in small chunks, and closes their connections. Node calls back for each chunk of what it has read, and 64 kB may hold ten thousand: that takes longer than many requests. So where a
 * network sends a chunked body, its connections are read in slices, for an hour. Others are not, because that takes time for every request.
 */
export class SmallChunks {
  readonly #sockets: Iterable<Socket>
  /** Networks that have sent chunked bodies, and until when their connections are read in slices. */
  readonly #networks = new Map<string, number>()
  readonly #sliced = new WeakSet<Socket>()
  /** Connections that are about to be closed. */
  readonly #done = new WeakSet<Socket>()

  /** `sockets`: the open connections of the server. */
  constructor(server: Server, sockets: Iterable<Socket>) {
    this.#sockets = sockets
    server.on('connection', (socket) => {
      if (this.#networks.size > 0 && this.#isKnown(networkOfPeer(socket))) this.#slice(socket)
    })
    server.on('clientError', (_error, socket) => this.#done.add(socket as Socket))
  }

  /** Call it as soon as the head of a request is parsed, because its chunks may come along. Closes the connection after a response that is sent before the end of the body. */
  watch(request: IncomingMessage, response: ServerResponse): void {
    if (!isChunked(request)) return
    const { socket } = request
    this.#sliceNetworkOf(socket)
    const body: ChunkedBody = { isRefused: false, refuse: () => {} }
    bodies.set(request, body)
    response.once('finish', () => {
      // Node would otherwise read the rest, chunk by chunk.
      if (body.isRefused || !request.complete) socket.destroySoon()
    })
    const pieces = new PieceCount(LEAST_BYTES)
    const { push } = request
    request.push = (piece) => {
      if (body.isRefused) return true
      if (piece === null || !pieces.isTooMany(piece)) return push.call(request, piece)
      body.isRefused = true
      this.#done.add(socket)
      body.refuse()
      if (response.writableFinished) socket.destroySoon()
      return true
    }
  }

  #isKnown(network: string): boolean {
    return (this.#networks.get(network) ?? 0) > performance.now()
  }

  #sliceNetworkOf(socket: Socket): void {
    const network = networkOfPeer(socket)
    const isKnown = this.#isKnown(network)
    this.#networks.delete(network)
    this.#networks.set(network, performance.now() + SLICED_MS)
    if (this.#networks.size > MOST_NETWORKS) this.#networks.delete(this.#networks.keys().next().value!)
    if (isKnown) this.#slice(socket)
    else for (const other of this.#sockets) if (networkOfPeer(other) === network) this.#slice(other)
  }

  #slice(socket: Socket): void {
    if (this.#sliced.has(socket)) return
    this.#sliced.add(socket)
    readInSlices(socket, () => !this.#done.has(socket) && !socket.destroyed)
    // Node's parser reads by itself until `on` is called.
    const nothing = () => {}
    socket.on('data', nothing)
    socket.removeListener('data', nothing)
  }
}

const networkOfPeer = ({ remoteAddress = '' }: Socket): string => networkOf(remoteAddress)
