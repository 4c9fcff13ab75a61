import type { ClientRequest } from 'node:http'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
const STATUS_LINE_CHARS = 'HTTP/1.1 100'.length
/** Where the first digit of a status stands, and what it is of informational responses. */
const CLASS_AT = 'HTTP/1.1 '.length
const INFORMATION_CLASS = '1'.charCodeAt(0)
const MOST_HEAD_CHARS = 16_384

/** Destroys a request whose server sends more than 20 informational responses (1xx) before its answer. Nothing else ends them. Calls `onTooMany` first. */
export function limitInformation(request: ClientRequest, onTooMany: () => void): void {
  let count = 0
  request.on('information', () => {
    if (++count <= MOST_INFORMATION) return
    onTooMany()
    request.destroy()
  })
}

/**
 * The same for servers that anybody may have made. It counts before Node parses: Node would parse thousands that came in one piece. For a request with a connection of
 * its own.
 */
export function limitUnparsedInformation(request: ClientRequest, onTooMany: () => void): void {
  const count = new InformationCount()
  request.on('socket', (socket) => {
    const look = (chunk: Buffer) => {
      const found = count.add(chunk)
      if (found === 'answer') socket.removeListener('data', look)
      if (found !== 'too many') return
      // The parser stops at the first zero.
      chunk.fill(0)
      onTooMany()
      request.destroy()
    }
    socket.prependListener('data', look)
  })
}

class InformationCount {
  #count = 0
  /** The beginning of a head whose end has not come yet. */
  #rest = ''

  /** Returns `answer` where another response begins, after which nothing is to be counted. */
  add(chunk: Buffer): 'answer' | 'too many' | 'informational' {
    // So nearly always.
    if (this.#rest === '' && chunk.length > CLASS_AT && chunk[CLASS_AT] !== INFORMATION_CLASS) return 'answer'
    const text = this.#rest + chunk.toString('latin1')
    const ends = /\r?\n\r?\n/g
    let start = 0
    while (text.length >= start + STATUS_LINE_CHARS) {
      if (text.charCodeAt(start + CLASS_AT) !== INFORMATION_CLASS) return 'answer'
      ends.lastIndex = start
      if (!ends.test(text)) break
      if (++this.#count > MOST_INFORMATION) return 'too many'
      start = ends.lastIndex
    }
    // Node ends a longer head.
    this.#rest = text.slice(start, start + MOST_HEAD_CHARS)
    return 'informational'
  }
}
