import type { ReparteeError } from '../core/errors.ts'
import { cleanText } from '../core/text.ts'
import { Stopwatch } from '../reply/stopwatch.ts'
import type { Statement } from '../store/database.ts'
import type { Exchange } from './exchange.ts'

/** Recent text is stored separately for readers that are up to date. */
const RECENT_CHARS = 8_192

const RUN_CHARS = 12

/** Why a turn was stopped before its reply was complete. */
export type StopReason = 'cancelled' | 'deleted' | 'late' | 'stopping'

/** The result of a turn. */
export type TurnEnd = { exchange: Exchange } | { error: ReparteeError }

/** A running turn, its growing reply and its readers. A reader has a position in `text` and no copy of it, so a slow reader costs nothing. */
export class Turn {
  readonly agentId: string
  readonly sessionId: string
  /** The id of this run of the turn, and the end of its session's lease. */
  readonly id: string
  /** The lease of its session. */
  readonly lease: string
  /** When the send arrived, on the clock of `performance`. */
  readonly arrivedAt: number
  /** The position in the queue of all processes. Undefined while the send does not wait. */
  position: number | undefined
  /** True if no other send ran or waited in the session when this one arrived. */
  wasFree = false
  /** Conditions for leasing the session. */
  condition: Statement[] = []
  /** The message that the turn answers. Undefined until the message is stored. */
  messageId: string | undefined
  /** The id of the future reply. Undefined if another process runs the turn. */
  replyId: string | undefined
  startedAt = 0
  /** Started by `Turns.start`. */
  stopwatch = new Stopwatch()
  /** The start on the monotonic clock of `performance`. */
  begunAt = 0
  /** Returns the final form of a beginning of the text, with checked citations. */
  settle: (text: string) => string = (text) => text
  stopped: StopReason | undefined
  /** Set if the end could not be written at once. Resolves when it is written or given up. */
  settled: Promise<void> | undefined
  /** True when the session is free again and the store shows how the turn ended. */
  isReleased = false
  /** Resolves when the session is free again. */
  readonly released: Promise<void>
  /** Resolves to the result for the sender. */
  readonly finished: Promise<TurnEnd>
  /** When the text began to grow, on the clock of `performance`. */
  firstTextAt: number | undefined
  readonly #abort = new AbortController()
  readonly #watchers = new Set<() => void>()
  readonly #release = Promise.withResolvers<void>()
  readonly #finish = Promise.withResolvers<TurnEnd>()
  #half = ''
  /** The text before `#recent`. Grows in large pieces, because each piece appended to a string takes 32 more bytes until the whole is read. */
  #older = ''
  #recent = ''
  #wasWatched = false

  constructor(agentId: string, sessionId: string, id: string, lease = id, arrivedAt = 0) {
    this.agentId = agentId
    this.sessionId = sessionId
    this.id = id
    this.lease = lease
    this.arrivedAt = arrivedAt
    this.released = this.#release.promise
    this.finished = this.#finish.promise
  }

  /** The prefix of the turn's event ids. It is stored with the end of the turn. */
  get run(): string {
    return this.id.slice(-RUN_CHARS)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The reply so far, as Markdown that can be stored. */
  get text(): string {
    return this.#older + this.#recent
  }

  /** Length of the text in characters. */
  get length(): number {
    return this.#older.length + this.#recent.length
  }

  /** True if a reader may have seen text, so that it cannot be taken back. */
  get wasShown(): boolean {
    return this.#wasWatched && this.length > 0
  }

  /** Stops the turn. Only the first reason counts. */
  stop(reason: StopReason): void {
    if (this.stopped !== undefined) return
    this.stopped = reason
    this.#abort.abort()
  }

  /** Replaces characters that no store accepts with U+FFFD. Buffers half of a surrogate pair until the other half arrives. */
  append(piece: string): void {
    if (piece === '' || this.stopped !== undefined) return
    let text = this.#half + piece
    this.#half = ''
    const last = text.charCodeAt(text.length - 1)
    if (last >= 0xd800 && last <= 0xdbff) {
      this.#half = text.slice(-1)
      text = text.slice(0, -1)
    }
    const clean = cleanText(text)
    if (this.#recent.length > RECENT_CHARS) {
      this.#older += this.#recent
      this.#recent = ''
    }
    if (clean !== '') this.firstTextAt ??= performance.now()
    this.#recent += clean
    this.#tell()
  }

  /** Clears the text for another attempt. Allowed only if no text was shown. */
  restart(): void {
    this.#older = ''
    this.#recent = ''
    this.#half = ''
  }

  /** Returns at most `chars` characters from a position on, never half of a surrogate pair. Copies nothing else. */
  read(start: number, chars: number): string {
    const end = start + chars
    const recentFrom = this.#older.length
    const piece =
      this.#older.slice(start, end) + this.#recent.slice(Math.max(0, start - recentFrom), Math.max(0, end - recentFrom))
    const last = piece.charCodeAt(piece.length - 1)
    return last >= 0xd800 && last <= 0xdbff ? piece.slice(0, -1) : piece
  }

  /** The number of readers of its text. */
  get readers(): number {
    return this.#watchers.size
  }

  /** Calls back when there is more text. Returns a function that removes the callback. */
  watch(tell: () => void): () => void {
    this.#wasWatched = true
    this.#watchers.add(tell)
    return () => this.#watchers.delete(tell)
  }

  release(): void {
    this.isReleased = true
    this.#release.resolve()
  }

  finish(end: TurnEnd): void {
    this.#finish.resolve(end)
  }

  #tell(): void {
    for (const tell of this.#watchers) tell()
  }
}
