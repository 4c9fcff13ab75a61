import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
const STATUS_LINE_CHARS = 'HTTP/1.1 100'.length
/** Where the first digit of a status stands, and what it is of informational responses. */
const CLASS_AT = 'HTTP/1.1 '.length
const INFORMATION_CLASS = '1'.charCodeAt(0)
const MOST_HEAD_CHARS = 16_384

/**
 * Destroys a request whose server sends more than 20 informational responses (1xx) before its answer. Nothing else ends them. Calls `onTooMany` first. They are
 * counted before Node parses them: it would parse thousands that came in one piece.
 */
export function limitInformation(request: ClientRequest, onTooMany: () => void): void {
  request.on('socket', (socket) => {
    const stop = () => {
      onTooMany()
      request.destroy()
    }
    const watch = watches.get(socket)
    watches.set(socket, { count: new InformationCount(), stop })
    if (watch === undefined) socket.prependListener('data', (chunk: Buffer) => look(socket, chunk))
  })
}

interface Watch {
  /** Undefined once the answer has begun. */
  count: InformationCount | undefined
  stop: () => void
}

/** Of the requests under way. A connection serves one after another, and adding and removing a listener for each would take long. */
const watches = new WeakMap<Socket, Watch>()

function look(socket: Socket, chunk: Buffer): void {
  const watch = watches.get(socket)!
  const found = watch.count?.add(chunk)
  if (found === 'answer') watch.count = undefined
  if (found !== 'too many') return
  // The parser stops at the first zero.
  chunk.fill(0)
  watch.stop()
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
