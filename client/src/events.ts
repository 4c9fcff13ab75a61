/** One server-sent event. */
export interface ServerEvent {
  /** `message` where the stream names none. */
  type: string
  /** The id that was sent last. */
  id: string
  data: string
}

/**
 * Reads the text of an event stream, in pieces that end wherever they happen to end (HTML standard, 9.2.6).
 * `feed` returns the events that are complete with this piece; one that is cut off by the end of the stream never is.
 */
export class EventParser {
  #rest = ''
  /** How much of the rest is known to hold no end of a line. */
  #seen = 0
  /** The piece before ended with a CR: an LF that follows belongs to it. */
  #isAfterCr = false
  #type = ''
  #id = ''
  #data: string[] = []

  feed(text: string): ServerEvent[] {
    if (text === '') return []
    const events: ServerEvent[] = []
    this.#rest += this.#isAfterCr && text[0] === '\n' ? text.slice(1) : text
    this.#isAfterCr = text.endsWith('\r')
    let start = 0
    for (let end = this.#endOfLine(this.#seen); end !== undefined; end = this.#endOfLine(start)) {
      const event = this.#line(this.#rest.slice(start, end.at))
      if (event !== undefined) events.push(event)
      start = end.next
    }
    this.#rest = this.#rest.slice(start)
    this.#seen = this.#rest.length
    return events
  }

  /** Lines end with LF, CRLF or CR. */
  #endOfLine(from: number): { at: number; next: number } | undefined {
    const text = this.#rest
    const lf = text.indexOf('\n', from)
    const cr = text.slice(from, lf === -1 ? text.length : lf).indexOf('\r')
    if (cr === -1) return lf === -1 ? undefined : { at: lf, next: lf + 1 }
    const at = from + cr
    return { at, next: text[at + 1] === '\n' ? at + 2 : at + 1 }
  }

  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return undefined
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1))
    if (field === 'event') this.#type = value
    else if (field === 'data') this.#data.push(value)
    else if (field === 'id' && !value.includes('\0')) this.#id = value
    return undefined
  }

  #dispatch(): ServerEvent | undefined {
    const event = { type: this.#type === '' ? 'message' : this.#type, id: this.#id, data: this.#data.join('\n') }
    const isEmpty = this.#data.length === 0
    this.#type = ''
    this.#data = []
    return isEmpty ? undefined : event
  }
}

export interface ReadOptions {
  /** Nothing for so long, not even a comment, means that the line is dead. */
  silenceMs: number
  signal?: AbortSignal | undefined
}

/** The events of a body, until it ends, breaks, falls silent or is stopped by the signal: which of them is not told. Closes the connection when nobody reads on. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { silenceMs, signal }: ReadOptions,
): AsyncGenerator<ServerEvent, void> {
  const reader = body.getReader()
  const parser = new EventParser()
  const decoder = new TextDecoder()
  const close = () => void reader.cancel().catch(() => {})
  const next = async () => {
    const timer = setTimeout(close, silenceMs)
    const { value } = await reader.read().catch(() => ({ value: undefined }))
    clearTimeout(timer)
    return value
  }
  if (signal?.aborted) close()
  signal?.addEventListener('abort', close)
  try {
    for (let chunk = await next(); chunk !== undefined; chunk = await next())
      yield* parser.feed(decoder.decode(chunk, { stream: true }))
  } finally {
    signal?.removeEventListener('abort', close)
    close()
  }
}
