import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { invalid, type ReparteeError } from '../../core/errors.ts'
import { PieceCount } from '../../core/fairness/pieces.ts'
import { readHeadsInTurn, waitForAnswer } from './heads-in-turn.ts'

const LEAST_BYTES = 64
const FREE_CHUNKS = 200
/** A connection may be read 2 MB at a time, during which nobody else is served. A chunk of 512 bytes may be cut in two by a slice. */
const LARGE = { bytes: 262_144, leastBytes: 256 }
const LARGE_CHUNK_BYTES = 512

const smallChunks = (): ReparteeError =>
  invalid(
    'body',
    `comes in chunks that are too small: send ${LEAST_BYTES} bytes or more in each, and ${LARGE_CHUNK_BYTES} or more in a large body`,
  )

interface ChunkedBody {
  isRefused: boolean
  refuse(): void
}

const bodies = new WeakMap<IncomingMessage, ChunkedBody>()
/** Connections that are about to be closed. */
const closing = new WeakSet<Socket>()

/** The last request of a connection with an `Upgrade` header, until it is answered. */
const upgrades = new WeakMap<Socket, IncomingMessage>()

/**
 * Lets a server read all connections in slices, and one request of each after another. Nothing more is read of a connection that was destroyed, or sent a malformed request, a body in small chunks, or anything behind a
 * request with an `Upgrade` header that is not answered yet.
 */
export function sliceConnections(server: Server): void {
  server.on('connection', (socket) => {
    const goesOn = () => {
      if (upgrades.get(socket)?.complete === true) closing.add(socket)
      return !closing.has(socket) && !socket.destroyed
    }
    readHeadsInTurn(socket, goesOn, () => closing.add(socket))
    // Node's parser reads by itself until `on` is called.
    const nothing = () => {}
    socket.on('data', nothing)
    socket.removeListener('data', nothing)
  })
  server.prependListener('request', waitForAnswer)
  server.on('clientError', (_error, socket) => closing.add(socket as Socket))
}

/** Watches for all that can go wrong behind the head of a request. Call it as soon as the head is parsed, because the body may come along. */
export function watchRequest(request: IncomingMessage, response: ServerResponse): void {
  watchChunks(request, response)
  watchLongBody(request, response)
  watchUpgrade(request, response)
}

/**
 * Closes the connection of a request with an `Upgrade` header after its response if anything else came in before. Node drops the rest of the slice behind such a request, and would
 * read on in the middle of something.
 */
function watchUpgrade(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers.upgrade === undefined) return
  const { socket } = request
  upgrades.set(socket, request)
  response.once('finish', () => {
    upgrades.delete(socket)
    if (closing.has(socket)) socket.destroySoon()
  })
}

/** Closes the connection behind the answer to a request that takes part in nothing else. What comes behind the slice that it came in is not parsed. */
export function closeBehind({ socket }: IncomingMessage, response: ServerResponse): void {
  closing.add(socket)
  response.shouldKeepAlive = false
}

/** A body of so many bytes that nobody reads is read to its end, and the connection goes on. */
const SHORT_REST_BYTES = 65_536
/** A caller that goes on sending sees the answer within this time; a connection that is closed at once is reset, and many callers then see no answer. */
const LINGER_MS = 2_000

/** Closes the connection behind an answer that comes before the end of a long body. What still comes in is dropped without being parsed. */
function watchLongBody(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && !(Number(length) > SHORT_REST_BYTES)) return
  const { socket } = request
  beforeHead(response, () => {
    if (request.complete || request.readableEnded) return
    response.shouldKeepAlive = false
    socket.destroySoon = () => {
      closing.add(socket)
      socket.end()
      const timer = setTimeout(() => socket.destroy(), LINGER_MS)
      socket.once('close', () => clearTimeout(timer))
    }
  })
}

/** Every answer writes its head, also one that goes past Fastify. */
function beforeHead(response: ServerResponse, prepare: () => void): void {
  const { writeHead } = response
  response.writeHead = ((...head: Parameters<typeof writeHead>) => {
    prepare()
    return writeHead.apply(response, head)
  }) as typeof writeHead
}

/**
 * Refuses a body in small chunks, and closes its connection. Also closes the connection of a chunked body after a response that is sent before its end, because Node would read the
 * rest, chunk by chunk.
 */
function watchChunks(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined) return
  const { socket } = request
  const body: ChunkedBody = { isRefused: false, refuse: () => {} }
  bodies.set(request, body)
  beforeHead(response, () => {
    if (body.isRefused || !request.complete) response.shouldKeepAlive = false
  })
  const pieces = new PieceCount(LEAST_BYTES, FREE_CHUNKS, LARGE)
  const { push } = request
  request.push = (piece) => {
    if (body.isRefused) return true
    if (piece === null || !pieces.isTooMany(piece)) return push.call(request, piece)
    body.isRefused = true
    closing.add(socket)
    body.refuse()
    return true
  }
}

/** Returns the body of a request. It fails with `invalid_request` if its chunks are too small. */
export function withoutSmallChunks(request: IncomingMessage, body: Readable): Readable {
  const chunked = bodies.get(request)
  if (chunked === undefined) return body
  const checked = new PassThrough()
  // A request that is refused for its head is answered without anybody reading its body, and an error that nobody listens to would end the process.
  checked.on('error', () => {})
  chunked.refuse = () => checked.destroy(smallChunks())
  if (chunked.isRefused) chunked.refuse()
  body.on('error', (error) => checked.destroy(error))
  return body.pipe(checked)
}
