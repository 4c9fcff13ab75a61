import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PieceCount } from '../fairness/pieces.ts'
import { readInSlices } from '../fairness/slices.ts'

// An `import` of node:http reads all its exports, and its WebSocket loads the whole of undici: 13 MB, and a tenth of the start time.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
/** The minimum average. A token of a stream takes a few hundred bytes. */
const LEAST_PIECE_BYTES = 16
const FREE_PIECES = 1_000
/** Informational responses and empty lines count too. */
const MOST_HEAD_BYTES = 32_768

/** The limit that a server exceeds. */
export type Excess = 'informational responses' | 'small chunks' | 'header fields'

/** What has been received for a request. */
interface Received {
  readonly pieces: PieceCount
  headBytes: number
  isAnswered: boolean
  isOver: boolean
  end(of: Excess): void
}

/** By connection, until the request is over: a pooled connection must not retain its last request and that request's turn. */
const current = new WeakMap<Socket, Received>()
const sliced = new WeakSet<Socket>()

/**
 * Ends a request after more than 20 informational responses (1xx), or more than 32,768 bytes before the body, or body pieces of fewer than 16 bytes on average
 * (beyond the first 1,000). Calls `onExcess` first. Also ends a request that is not fully sent when its response is over.
 */
export function limitResponse(request: ClientRequest, onExcess: (of: Excess) => void): void {
  const received: Received = {
    pieces: new PieceCount(LEAST_PIECE_BYTES, FREE_PIECES),
    headBytes: 0,
    isAnswered: false,
    isOver: false,
    end(of) {
      if (received.isOver) return
      received.isOver = true
      onExcess(of)
      request.destroy()
    },
  }
  request.once('socket', (socket) => {
    readSlicesOnce(socket)
    current.set(socket, received)
    // Node gives the connection to the next request only after this event.
    request.once('close', () => current.delete(socket))
  })
  let informational = 0
  request.on('information', () => {
    if (++informational > MOST_INFORMATION) received.end('informational responses')
  })
  request.once('response', (response: Answer) => {
    received.isAnswered = true
    response[RECEIVED] = received
    response.push = pushCounted
    response.once('close', endUnsent)
  })
}

/** If a server answers before it has read the request, and then stops reading, Node waits forever. */
function endUnsent(this: Answer): void {
  if (!this.req.writableFinished) this.req.destroy()
}

/** A connection is sliced from its first request to its end. */
function readSlicesOnce(socket: Socket): void {
  if (sliced.has(socket)) return
  sliced.add(socket)
  readInSlices(socket, (bytes) => mayTake(socket, bytes))
}

function mayTake(socket: Socket, bytes: number): boolean {
  const received = current.get(socket)
  if (received !== undefined && !received.isAnswered) {
    received.headBytes += bytes
    if (received.headBytes > MOST_HEAD_BYTES) received.end('header fields')
  }
  if (received?.isOver !== true && hasParser(socket)) return true
  // Data after a complete response must not be taken for the response to the next request.
  socket.destroy()
  return false
}

const RECEIVED = Symbol('received')
type Answer = IncomingMessage & { readonly req: ClientRequest; [RECEIVED]?: Received }
const { push } = process.getBuiltinModule('node:stream').Readable.prototype

/** The shared `push` of all responses. With a function each, V8 would retain finished responses and their turns until the next full collection. */
function pushCounted(this: Answer, piece: Buffer | null): boolean {
  const { pieces, isOver, end } = this[RECEIVED]!
  if (isOver) return true
  if (piece === null || !pieces.isTooMany(piece)) return push.call(this, piece)
  end('small chunks')
  return true
}

/** Returns false when the response is complete, because Node then removes the parser from the connection. */
const hasParser = (socket: Socket): boolean => (socket as { parser?: object | null }).parser != null
