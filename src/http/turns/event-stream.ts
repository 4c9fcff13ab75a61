import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { Clock } from '../../core/ports/ports.ts'
import type { Turn } from '../../turns/turn.ts'
import { overloaded } from '../route/errors.ts'
import { writingTurns } from '../server/writing-turns.ts'

/** Text of one event: a long reply that is caught up with comes in pieces. */
export const PIECE_CHARS = 16_384
/** Of one stream, until others have their turn. */
const TURN_CHARS = 65_536
const TICK_MS = 1_000
/** No request waits for its stream so long. */
const ENDS_KEPT_MS = 3_600_000
/** How long a reader that knows the rules of EventSource waits before it comes back. */
const RETRY_MS = 1_000

export interface StreamLimits {
  /** A comment keeps the line open after so long without an event. */
  heartbeatMs: number
  /** A reader that takes nothing for so long is cut off; it can take the stream up again. */
  streamStallMs: number
}

type Warn = (about: string, error: unknown) => void

/** How a stream begins. */
export interface StreamHead {
  headers: Record<string, string>
  /** Before the first event. */
  text: string
}

export const EVENT_SOURCE: StreamHead = { headers: {}, text: `retry: ${RETRY_MS}\n\n` }

/** More cannot follow one turn: its last event holds the whole reply. */
const MAX_READERS = 100

/** To be called before a stream is opened. Throws `unavailable` if too many readers follow the turn. */
export function checkReaders(turn: Turn): void {
  if (turn.readers >= MAX_READERS) throw overloaded()
}

/** With an iterator, each text is made when it can be sent. */
export type LastEvents = string | Buffer | Iterator<string>

/** Returns the next events of a turn, undefined if there are none yet. Called only when they can be sent. */
export type Feed = () => string | undefined

/** The open event streams of this process. One timer serves all of them. */
export class EventStreams {
  readonly #open = new Set<EventStream>()
  /** Keys that ended, or got an end, while they may have had requests under way. */
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

  /** Writes the head of the answer: from now on whatever happens is told as an event. A key that has ended meanwhile gets none. */
  open(reply: FastifyReply, key: ApiKey, head = EVENT_SOURCE): EventStream {
    reply.hijack()
    const stream = new EventStream(reply, key, head, this.#warn)
    if (this.#hasEnded(key)) stream.cut()
    // Whoever asked may have left while the turn was waiting for its session.
    if (stream.isOpen) this.#open.add(stream)
    reply.raw.on('close', () => this.#open.delete(stream))
    const { heartbeatMs, streamStallMs } = this.#limits
    this.#timer ??= setInterval(() => this.#tick(), Math.min(TICK_MS, heartbeatMs / 2, streamStallMs / 2)).unref()
    return stream
  }

  /** Of those who read. */
  get keyIds(): Set<string> {
    return new Set([...this.#open].map(({ key }) => key.id))
  }

  /** Cuts the streams of a key, those that are open and those that will be, from a time on. */
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

/**
 * Server-sent events about one turn. What it has not yet sent stays in the turn, as a position in its text: a slow reader
 * holds no buffer but its socket's.
 */
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

  /** Whoever reads keeps up. */
  get takes(): boolean {
    return this.isOpen && !this.#isBlocked
  }

  /** The turn begins: what its feed makes of it follows as it grows. */
  follow(turn: Turn, next: Feed): void {
    this.#next = next
    this.#unwatch = turn.watch(() => this.#pumpSoon())
    this.#pump()
  }

  send(events: string): void {
    if (events !== '') this.#write(events)
  }

  /** Sends the last events after everything else. They are made when they can be sent, because they may hold a whole reply. */
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
      // Where it was this process that stood still, the news that the reader has taken something waits behind this timer.
      if (silentMs > streamStallMs) setImmediate(() => this.#cutIfSilentSince(now))
    } else if (silentMs >= heartbeatMs && !this.#isPumping) this.#beatSoon(now)
  }

  /** In turn with events: thousands of streams may be due at once. */
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

  /** Pieces that came in one packet leave as one event. */
  #pumpSoon(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    writingTurns.soon(this.#line, () => {
      this.#isPumping = false
      return this.#pump()
    })
  }

  /** Returns how many bytes it wrote, about. */
  #pump(): number {
    try {
      return this.#writeEvents()
    } catch (error) {
      // It was called from no request, so nobody else would catch it.
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

  /** Ends the stream behind its last event. */
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
    // Node holds a string and its bytes until they are sent.
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

/**
 * An event with these items in its last empty list of this name. Each is made when it can be sent: together they may be many times as long as the reply.
 */
export function* withItems(event: string, name: string, items: object[]): Generator<string, void> {
  const start = `"${name}":[`
  const at = event.lastIndexOf(`${start}]`) + start.length
  yield event.slice(0, at)
  for (const [i, item] of items.entries()) yield (i === 0 ? '' : ',') + JSON.stringify(item)
  yield event.slice(at)
}

export const toEvent = (event: string, id: string | undefined, data: object): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`
