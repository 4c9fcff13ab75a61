import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { Clock } from '../../core/ports/ports.ts'
import type { Turn } from '../../turns/turn.ts'
import { overloaded } from '../route/errors.ts'
import { writingTurns } from '../server/writing-turns.ts'

/** Characters of text in one event: a reader that catches up with a long reply receives it in pieces. */
export const PIECE_CHARS = 16_384
/** Characters of one stream that are written before other streams get their turn. */
const TURN_CHARS = 65_536
const TICK_MS = 1_000
/** No request waits longer than this for its stream. */
const ENDS_KEPT_MS = 3_600_000
/** How long an `EventSource` waits before it reconnects. */
const RETRY_MS = 1_000

export interface StreamLimits {
  /** A comment keeps the connection open after this time without an event. */
  heartbeatMs: number
  /** A reader that takes nothing for this time is disconnected. It can resume the stream. */
  streamStallMs: number
}

type Warn = (about: string, error: unknown) => void

/** Beginning of a stream. */
export interface StreamHead {
  headers: Record<string, string>
  /** Sent before the first event. */
  text: string
}

export const EVENT_SOURCE: StreamHead = { headers: {}, text: `retry: ${RETRY_MS}\n\n` }

/** Maximum number of readers of one turn: its last event contains the whole reply. */
const MAX_READERS = 100

/** Throws `unavailable` if too many readers follow the turn. Call it before a stream is opened. */
export function checkReaders(turn: Turn): void {
  if (turn.readers >= MAX_READERS) throw overloaded()
}

/** An iterator makes each text when it can be sent. */
export type LastEvents = string | Buffer | Iterator<string>

/** Returns the next events of a turn, undefined if there are none yet. Called only when they can be sent. */
export type Feed = () => string | undefined

/** The open event streams of this process. One timer serves all of them. */
export class EventStreams {
  readonly #open = new Set<EventStream>()
  /** End times by key id, of keys that were revoked or got an end, for requests that were already running then. */
  readonly #ends = new Map<string, number>()
  readonly #limits: StreamLimits
  readonly #clock: Clock
  readonly #warn: Warn
  #timer: NodeJS.Timeout | undefined

  constructor(limits: StreamLimits, clock: Clock, warn: Warn) {
    this.#warn = warn
    this.#limits = limits
    this.#clock = clock
  }

  get size(): number {
    return this.#open.size
  }

  /** Writes the head of the response. From then on, results and errors are sent as events. Cuts the stream if the key has ended. */
  open(reply: FastifyReply, key: ApiKey, head = EVENT_SOURCE): EventStream {
    reply.hijack()
    const stream = new EventStream(reply, key, head, this.#warn)
    if (this.#hasEnded(key)) stream.cut()
    // The caller may have disconnected while the turn waited for its session.
    if (stream.isOpen) this.#open.add(stream)
    reply.raw.on('close', () => this.#open.delete(stream))
    const { heartbeatMs, streamStallMs } = this.#limits
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS, heartbeatMs / 2, streamStallMs / 2)).unref()
    return stream
  }

  /** Ids of the keys of all open streams. */
  get keyIds(): Set<string> {
    return new Set([...this.#open].map(({ key }) => key.id))
  }

  /** Cuts the open and the future streams of a key from a time on. */
  endKey(keyId: string, at: number): void {
    for (const [id, end] of this.#ends) if (end < this.#clock() - ENDS_KEPT_MS) this.#ends.delete(id)
    this.#ends.set(keyId, Math.min(at, this.#ends.get(keyId) ?? at))
    for (const stream of this.#open) if (stream.key.id === keyId && this.#hasEnded(stream.key)) stream.cut()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const now = performance.now()
    for (const stream of this.#open) {
      if (this.#hasEnded(stream.key)) stream.cut()
      else stream.tick(now, this.#limits)
    }
  }

  #hasEnded({ id, expiresAt }: ApiKey): boolean {
    const end = Math.min(this.#ends.get(id) ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY)
    return end <= this.#clock()
  }
}

/** Server-sent events of one turn. Unsent text stays in the turn, and the stream stores a position in it: a slow reader uses no buffer except its socket's. */
export class EventStream {
  readonly key: ApiKey
  readonly #response: ServerResponse
  readonly #warn: Warn
  #next: Feed | undefined
  #makeLast: (() => LastEvents) | undefined
  /** The last events that are not sent yet. */
  #last: Iterator<string | Buffer> | undefined
  #isBlocked = false
  #isPumping = false
  #writtenAt = performance.now()
  #unwatch: (() => void) | undefined
  readonly #line: string

  constructor(reply: FastifyReply, key: ApiKey, { headers, text }: StreamHead, warn: Warn) {
    const response = reply.raw
    this.key = key
    this.#warn = warn
    this.#response = response
    this.#line = `${key.id}/${key.userId ?? ''}`
    const own = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no', ...headers }
    response.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), ...own })
    if (text === '') response.flushHeaders()
    else response.write(text)
    response.on('drain', () => {
      this.#isBlocked = false
      this.#pumpSoon()
    })
    response.on('close', () => this.#unwatch?.())
  }

  get isOpen(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded
  }

  /** Whether the reader keeps up. */
  get takes(): boolean {
    return this.isOpen && !this.#isBlocked
  }

  /** Sends the events of the turn's feed while the turn grows. */
  follow(turn: Turn, next: Feed): void {
    this.#next = next
    this.#unwatch = turn.watch(() => this.#pumpSoon())
    this.#pump()
  }

  send(events: string): void {
    if (events !== '') this.#write(events)
  }

  /** Sends the last events after everything else. They are made when they can be sent, because they may contain a whole reply. */
  end(events: () => LastEvents): void {
    this.#makeLast = events
    this.#pumpSoon()
  }

  cut(): void {
    this.#response.destroy()
  }

  tick(now: number, { heartbeatMs, streamStallMs }: StreamLimits): void {
    const silentMs = now - this.#writtenAt
    if (this.#isBlocked) {
      // If this process itself was stalled, the `drain` event of a reader that reads is handled after this timer.
      if (silentMs > streamStallMs) setImmediate(() => this.#cutIfSilentSince(now))
    } else if (silentMs >= heartbeatMs && !this.#isPumping) this.#beatSoon(now)
  }

  /** Takes turns with events, because thousands of streams may be due at once. */
  #beatSoon(now: number): void {
    const beat = ': still here\n\n'
    writingTurns.soon(this.#line, () => {
      if (this.#isBlocked || this.#writtenAt > now) return 0
      this.#write(beat)
      return beat.length
    })
  }

  #cutIfSilentSince(time: number): void {
    if (this.#isBlocked && this.#writtenAt < time) this.cut()
  }

  /** Pieces of text that arrive in one packet are sent as one event. */
  #pumpSoon(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    writingTurns.soon(this.#line, () => {
      this.#isPumping = false
      return this.#pump()
    })
  }

  /** Returns approximately how many bytes it wrote. */
  #pump(): number {
    try {
      return this.#writeEvents()
    } catch (error) {
      // No request calls this, so nothing else would catch the error.
      this.#warn('the events of a stream could not be made', error)
      this.#next = undefined
      this.cut()
      return 0
    }
  }

  #writeEvents(): number {
    let chars = 0
    while (!this.#isBlocked && this.isOpen) {
      if (chars >= TURN_CHARS) {
        this.#pumpSoon()
        break
      }
      const events = this.#next?.() ?? this.#nextOfLast()
      if (events === undefined) break
      this.#write(events)
      chars += events.length
    }
    return chars
  }

  /** Returns the next of the last events, and ends the stream after them. */
  #nextOfLast(): string | Buffer | undefined {
    if (this.#makeLast !== undefined) {
      const events = this.#makeLast()
      this.#makeLast = undefined
      this.#next = undefined
      this.#unwatch?.()
      this.#last = typeof events === 'string' || Buffer.isBuffer(events) ? [events].values() : events
    }
    const event = this.#last?.next()
    if (event?.done === true) this.#response.end()
    return event?.value
  }

  #write(text: string | Buffer): void {
    if (!this.isOpen) return
    this.#writtenAt = performance.now()
    // Node stores both a string and its bytes until they are sent.
    const sent = typeof text === 'string' && text.length > PIECE_CHARS ? Buffer.from(text) : text
    this.#isBlocked = !this.#response.write(sent)
  }
}

/** Joins short texts, so that they are sent together. */
export function* joined(texts: Iterable<string>): Generator<string, void> {
  let text = ''
  for (const more of texts) {
    text += more
    if (text.length < PIECE_CHARS) continue
    yield text
    text = ''
  }
  if (text !== '') yield text
}

/** Yields an event with items in its last empty list `name`. Each is made when it can be sent: all may be many times as long as the reply. */
export function* withItems(event: string, name: string, items: object[]): Generator<string, void> {
  const start = `"${name}":[`
  const at = event.lastIndexOf(`${start}]`) + start.length
  yield event.slice(0, at)
  for (const [i, item] of items.entries()) yield (i === 0 ? '' : ',') + JSON.stringify(item)
  yield event.slice(at)
}

export const toEvent = (event: string, id: string | undefined, data: object): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
