import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
const STATUS_LINE_CHARS = 'HTTP/1.1 100'.length
const MOST_HEAD_CHARS = 16_384

/**
 * Destroys a request whose server sends more than 20 informational responses (1xx) before its answer. Nothing else ends them. Calls `onTooMany` first. They are
 * counted before Node parses them: it would parse thousands that came in one piece.
 */
export function limitInformation(request: ClientRequest, onTooMany: () => void): void {
  const count = new InformationCount()
  let watched: Socket | undefined
  const look = (chunk: Buffer) => {
    if (!count.isTooMany(chunk)) return
    // Nothing in it is a response any more: the parser stops at once.
    chunk.fill(0)
    onTooMany()
    request.destroy()
  }
  const end = () => watched?.removeListener('data', look)
  request.on('socket', (socket) => {
    watched = socket
    socket.prependListener('data', look)
  })
  request.on('response', end)
  request.on('close', end)
}

class InformationCount {
  #count = 0
  #isOver = false
  /** The beginning of a head whose end has not come yet. */
  #rest = ''

  isTooMany(chunk: Buffer): boolean {
    if (this.#isOver) return false
    const text = this.#rest + chunk.toString('latin1')
    const ends = /\r?\n\r?\n/g
    let start = 0
    while (text.length >= start + STATUS_LINE_CHARS) {
      if (!/^HTTP\/1\.\d 1/.test(text.slice(start, start + STATUS_LINE_CHARS))) {
        this.#isOver = true
        return false
      }
      ends.lastIndex = start
      if (!ends.test(text)) break
      if (++this.#count > MOST_INFORMATION) return true
      start = ends.lastIndex
    }
    // Node ends a longer head.
    this.#rest = text.slice(start, start + MOST_HEAD_CHARS)
    return false
  }
}
