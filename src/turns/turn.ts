import type { ReparteeError } from '../core/errors.ts'
import { cleanText } from '../core/text.ts'
import { Stopwatch } from '../reply/stopwatch.ts'
import type { Statement } from '../store/database.ts'
import type { Exchange } from './exchange.ts'

/** Text that is kept apart for those who keep up. */
const RECENT_CHARS = 8_192

const RUN_CHARS = 12

/** Why a turn was told to end before its reply was complete. */
export type StopReason = 'cancelled' | 'deleted' | 'late' | 'stopping'

/** What a turn came to. */
export type TurnEnd = { exchange: Exchange } | { error: ReparteeError }

/**
 * A turn while it runs: the one place where its reply grows, and where those who watch it, or want it to stop, find it.
 * Readers keep a position in `text` and no copy of it, so that a slow one costs nothing.
 */
export class Turn {
  readonly agentId: string
  readonly sessionId: string
  /** Names this run of the turn: the end of its session's lease. */
  readonly id: string
  /** What its session is leased under. */
  readonly lease: string
  /** When the send arrived. */
  readonly arrivedAt: number
  /** Among the sends of all processes that wait; undefined while it does not. */
  position: number | undefined
  /** Nothing else ran or waited in the session when the send arrived. */
  wasFree = false
  /** What must hold when it takes its session. */
  condition: Statement[] = []
  /** The message that it answers; undefined until that is stored. */
  messageId: string | undefined
  /** The reply will have this id. Undefined where another process makes it. */
  replyId: string | undefined
  startedAt = 0
  /** Started by `Turns.start`. */
  stopwatch = new Stopwatch()
  /** The same on the clock of `performance`, which nobody sets. */
  begunAt = 0
  /** What a beginning of the text comes to once its citations are checked. */
  settle: (text: string) => string = (text) => text
  stopped: StopReason | undefined
  /** Where its end could not be written at once: resolves when it is, or when that is given up. */
  settled: Promise<void> | undefined
  /** The session is free again: the store says how it ended. */
  isReleased = false
  /** Resolves when the session is free again. */
  readonly released: Promise<void>
  /** Resolves to what the sender is told. */
  readonly finished: Promise<TurnEnd>
  /** When its text began to grow, on the clock of `performance`. */
  firstTextAt: number | undefined
  readonly #abort = new AbortController()
  readonly #watchers = new Set<() => void>()
  readonly #release = Promise.withResolvers<void>()
  readonly #finish = Promise.withResolvers<TurnEnd>()
  #half = ''
  /** The text before what is recent. It grows by much at a time: each piece that is added to a string takes 32 bytes beside it until the whole is read. */
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

  /** The front part of its events' ids. It is stored with the end of the turn. */
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

  /** Of the text, in characters. */
  get length(): number {
    return this.#older.length + this.#recent.length
  }

  /** Someone may have read what there is: it cannot be taken back. */
  get wasShown(): boolean {
    return this.#wasWatched && this.length > 0
  }

  /** The first reason holds. */
  stop(reason: StopReason): void {
    if (this.stopped !== undefined) return
    this.stopped = reason
    this.#abort.abort()
  }

  /** What no store can keep becomes U+FFFD; half of a surrogate pair waits for the other half. */
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

  /** Another try begins. Only where nothing was shown. */
  restart(): void {
    this.#older = ''
    this.#recent = ''
    this.#half = ''
  }

  /** The text from a place on, of so many characters at most, and never half of a surrogate pair. Nothing else of it is copied. */
  read(start: number, chars: number): string {
    const end = start + chars
    const recentFrom = this.#older.length
    const piece =
      this.#older.slice(start, end) + this.#recent.slice(Math.max(0, start - recentFrom), Math.max(0, end - recentFrom))
    const last = piece.charCodeAt(piece.length - 1)
    return last >= 0xd800 && last <= 0xdbff ? piece.slice(0, -1) : piece
  }

  /** How many watch its text. */
  get readers(): number {
    return this.#watchers.size
  }

  /** Calls back whenever there is more to read. Returns how to stop that. */
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
