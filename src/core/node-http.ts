import type { ClientRequest } from 'node:http'
import { ChunkFrames } from './chunk-frames.ts'

// An `import` of node:http reads everything that it exports, and with its WebSocket the whole of undici comes along: 13 MB, and a tenth of a start.
export const { request: httpRequest, STATUS_CODES } = process.getBuiltinModule('node:http')
export const { request: httpsRequest } = process.getBuiltinModule('node:https')

const MOST_INFORMATION = 20
/** Where the first digit of a status stands, and what it is of informational responses. */
const CLASS_AT = 'HTTP/1.1 '.length
const INFORMATION_CLASS = '1'
/** Node accepts longer heads of short fields: it counts names and values only. */
const MOST_HEAD_CHARS = 16_384
const HEAD_END = /\r?\n\r?\n/g
const ENCODED = /^transfer-encoding:/im

/** What a server sends too much of. */
export type Excess = 'informational responses' | 'small chunks' | 'header fields'

/**
 * Ends a request whose server sends more than 20 informational responses (1xx) before its answer, or an answer in chunks of fewer than `leastChunkBytes` bytes on
 * average, beyond the first 1,000, or a head of more than 16,384 characters. It counts before Node parses, because Node would parse thousands that came in one piece. Calls `onExcess` before it ends the request.
 */
export function limitResponse(request: ClientRequest, leastChunkBytes: number, onExcess: (of: Excess) => void): void {
  request.on('socket', (socket) => {
    const count = new ResponseCount(leastChunkBytes)
    const look = (read: Buffer) => {
      const found = count.add(read)
      if (found === 'goes on') return
      socket.removeListener('data', look)
      if (found === 'is over') return
      stopParser(read)
      onExcess(found)
      request.destroy()
    }
    socket.prependListener('data', look)
    request.once('close', () => socket.removeListener('data', look))
  })
}

/** Overwrites what was read. A parser stops at the first zero where a head or the size of a chunk is due. */
export const stopParser = (read: Buffer): void => void read.fill(0)

class ResponseCount {
  readonly #leastChunkBytes: number
  #informational = 0
  /** The beginning of a head whose end has not come yet. */
  #head = ''
  /** Of the answer, once its head has come. */
  #frames: ChunkFrames | undefined

  constructor(leastChunkBytes: number) {
    this.#leastChunkBytes = leastChunkBytes
  }

  /** `is over`: what follows need not be counted. */
  add(read: Buffer): Excess | 'goes on' | 'is over' {
    if (this.#frames !== undefined) return this.#addChunks(this.#frames, read, 0)
    const before = this.#head.length
    const text = this.#head + read.toString('latin1')
    let start = 0
    for (;;) {
      HEAD_END.lastIndex = start
      const end = HEAD_END.exec(text)
      if (end === null) break
      const next = HEAD_END.lastIndex
      // Node skips empty lines before a head.
      const head = text.slice(start, end.index).trimStart()
      if (head !== '' && head[CLASS_AT] !== INFORMATION_CLASS) {
        if (!ENCODED.test(head)) return 'is over'
        this.#frames = new ChunkFrames(this.#leastChunkBytes)
        return this.#addChunks(this.#frames, read, next - before)
      }
      if (head !== '' && ++this.#informational > MOST_INFORMATION) return 'informational responses'
      start = next
    }
    this.#head = text.slice(start)
    return this.#head.length < MOST_HEAD_CHARS ? 'goes on' : 'header fields'
  }

  #addChunks(frames: ChunkFrames, read: Buffer, start: number): Excess | 'goes on' | 'is over' {
    if (frames.add(read, start) === undefined) return 'small chunks'
    return frames.isOver ? 'is over' : 'goes on'
  }
}
