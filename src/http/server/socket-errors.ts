import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ErrorCode, ReparteeError } from '../../core/errors.ts'
import { newId } from '../../core/platform/ids.ts'
import { STATUS_CODES } from '../../core/platform/node-http.ts'
import { statusOf, toErrorBody } from '../route/errors.ts'

const BY_PARSER_CODE: Record<string, [ErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request took too long to arrive.'],
}
/** How long an unanswered earlier request on the connection may delay the refusal. */
const WAIT_MS = 30_000

/** Answers a malformed HTTP request with a JSON error, after the responses still due on its connection, and closes the connection. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const refusal = toRefusal(error.code)
  whenAnswered(socket, () => {
    if (!socket.writable) return
    socket.end(toResponse(refusal))
    // A client that never closes would occupy the memory and slots of its request.
    socket.destroySoon()
  })
}

function toRefusal(parserCode = ''): ReparteeError {
  const [code, message] = BY_PARSER_CODE[parserCode] ?? ['invalid_request', 'The request is not well-formed HTTP.']
  return new ReparteeError(code, message)
}

/** Node stores the next due response on the socket. A response whose own request was aborted is never written. */
function whenAnswered(socket: Socket, then: () => void): void {
  const end = () => {
    clearTimeout(timer)
    socket.off('close', end)
    isOver = true
    then()
  }
  let isOver = false
  const timer = setTimeout(end, WAIT_MS)
  const look = () => {
    if (isOver) return
    const due = (socket as { _httpMessage?: ServerResponse })._httpMessage
    if (due?.req.complete === true && !socket.destroyed) due.once('close', look)
    else end()
  }
  socket.on('close', end)
  look()
}

function toResponse(error: ReparteeError): string {
  const requestId = newId()
  const body = JSON.stringify(toErrorBody(error, requestId))
  const status = statusOf[error.code]
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
