import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { invalid, type ReparteeError } from '../../core/errors.ts'
import { PieceCount } from '../../core/fairness/pieces.ts'
import { readHeadsInTurn, waitForAnswer } from './heads-in-turn.ts'

const LEAST_BYTES = 64
const FREE_CHUNKS = 200
/** Node may read 2 MB of a connection at a time, and serves nobody else in that time. A slice may cut a chunk of 512 bytes in two. */
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
 * Makes a server read all connections in slices, and handle the requests of each connection one by one. Stops reading a connection that was destroyed, or that
 * sent a malformed request or a body in small chunks. Also stops at data after an unanswered request with an `Upgrade` header.
 */
export function sliceConnections(server: Server): void {
  server.on('connection', (socket) => {
    const goesOn = () => {
      if (upgrades.get(socket)?.complete === true) closing.add(socket)
      return !closing.has(socket) && !socket.destroyed
    }
    readHeadsInTurn(socket, goesOn, () => closing.add(socket))
    // Node's parser reads directly from the socket until `on` is called.
    const nothing = () => {}
    socket.on('data', nothing)
    socket.removeListener('data', nothing)
  })
  server.prependListener('request', waitForAnswer)
  server.on('clientError', (_error, socket) => closing.add(socket as Socket))
}

/** Watches for errors after the head of a request. Call it as soon as the head is parsed, because the body may arrive with it. */
export function watchRequest(request: IncomingMessage, response: ServerResponse): void {
  watchChunks(request, response)
  watchLongBody(request, response)
  watchUpgrade(request, response)
}

/**
 * Closes the connection after the response to a request with an `Upgrade` header if more data arrived before the response. Node drops the rest of the slice
 * after such a request, and would continue in the middle of a message.
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

/** Closes the connection after the response to a request that gets no further processing. Data after the current slice is not parsed. */
export function closeBehind({ socket }: IncomingMessage, response: ServerResponse): void {
  closing.add(socket)
  response.shouldKeepAlive = false
}

/** Node reads an unused body of up to this size to its end, and the connection stays open. */
const SHORT_REST_BYTES = 65_536
/** A caller that is still sending sees the response within this time. An immediate close resets the connection, and many callers then see no response. */
const LINGER_MS = 2_000

/** Closes the connection after a response that is sent before the end of a long body. Drops the data that still arrives without parsing it. */
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

/** Calls `prepare` before the response head is written, even if the response bypasses Fastify. */
function beforeHead(response: ServerResponse, prepare: () => void): void {
  const { writeHead } = response
  response.writeHead = ((...head: Parameters<typeof writeHead>) => {
    prepare()
    return writeHead.apply(response, head)
  }) as typeof writeHead
}

/**
 * Refuses a body in small chunks, and closes its connection. Also closes it after a response that is sent before the end of a chunked body: Node would read the
 * rest chunk by chunk.
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
  // A request that is refused because of its head is answered without reading its body. An error without a listener would end the process.
  checked.on('error', () => {})
  chunked.refuse = () => checked.destroy(smallChunks())
  if (chunked.isRefused) chunked.refuse()
  body.on('error', (error) => checked.destroy(error))
  return body.pipe(checked)
}
