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
  /** The beginning of a line whose end has not come. It only grows: looking into it each time would take the square of its length. */
  #begun = ''
  /** The piece before ended with a CR: an LF that follows belongs to it. */
  #isAfterCr = false
  #type = ''
  #id = ''
  #data: string[] = []

  feed(text: string): ServerEvent[] {
    if (text === '') return []
    const lines = (this.#isAfterCr && text[0] === '\n' ? text.slice(1) : text).split(/\r\n|\n|\r/)
    this.#isAfterCr = text.endsWith('\r')
    const begun = lines.pop()!
    const events: ServerEvent[] = []
    for (const rest of lines) {
      const event = this.#line(this.#begun + rest)
      this.#begun = ''
      if (event !== undefined) events.push(event)
    }
    this.#begun += begun
    return events
  }

  /** A comment is a field without a name. */
  #line(line: string): ServerEvent | undefined {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
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
