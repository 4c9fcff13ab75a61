import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { PieceCount } from './pieces.ts'
import { readInSlices } from './slices.ts'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
/** On average. A token of a stream takes a few hundred. */
const LEAST_PIECE_BYTES = 16
const FREE_PIECES = 1_000
/** Informational responses and empty lines count too. */
const MOST_HEAD_BYTES = 32_768

/** What a server sends too much of. */
export type Excess = 'informational responses' | 'small chunks' | 'header fields'

/** What the current request of a connection allows. */
const limits = new WeakMap<Socket, (bytes: number) => boolean>()

/**
 * Ends a request whose server sends more than 20 informational responses (1xx), or 32,768 bytes before the body of its answer, or a body in pieces of fewer than 16 bytes
 * on average, beyond the first 1,000. Calls `onExcess` before it ends the request.
 */
export function limitResponse(request: ClientRequest, onExcess: (of: Excess) => void): void {
  let isOver = false
  const end = (of: Excess) => {
    if (isOver) return
    isOver = true
    onExcess(of)
    request.destroy()
  }
  let headBytes = 0
  let isAnswered = false
  request.once('socket', (socket) => {
    if (!limits.has(socket)) readInSlices(socket, (bytes) => limits.get(socket)!(bytes))
    limits.set(socket, (bytes) => {
      if (!isAnswered) headBytes += bytes
      if (headBytes > MOST_HEAD_BYTES) end('header fields')
      if (!isOver && hasParser(socket)) return true
      // What follows a whole answer must not be taken for the answer to the next request.
      socket.destroy()
      return false
    })
  })
  let informational = 0
  request.on('information', () => {
    if (++informational > MOST_INFORMATION) end('informational responses')
  })
  request.once('response', (response) => {
    isAnswered = true
    const pieces = new PieceCount(LEAST_PIECE_BYTES, FREE_PIECES)
    const { push } = response
    response.push = (piece) => {
      if (piece !== null && pieces.isTooMany(piece)) end('small chunks')
      return isOver || push.call(response, piece)
    }
  })
}

/** Node takes the parser from a connection when an answer is whole. */
const hasParser = (socket: Socket): boolean => (socket as { parser?: object | null }).parser != null
