export interface ServerEvent {
  /** `message` if the stream names no type. */
  type: string
  /** The last id that the stream sent. */
  id: string
  data: string
}

/**
 * Parses an event stream from chunks that can end anywhere (HTML standard, 9.2.6).
 * `feed` returns the events that this chunk completes. An event that the end of the stream cuts off is never returned.
 */
export class EventParser {
  /** The start of an incomplete line. It is only appended to: scanning it for each chunk would take quadratic time. */
  #begun = ''
  /** The previous chunk ended with CR, so an LF at the start of the next chunk belongs to it. */
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
  /** After this much silence, without even a comment, the connection is considered dead. */
  silenceMs: number
  signal?: AbortSignal | undefined
}

/** Yields the events of a body until it ends, breaks, falls silent or is aborted. Closes the connection when the consumer stops reading. */
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
