import type { Stopwatch } from './stopwatch.ts'

/** The growing reply of a turn. */
export interface ReplyTarget {
  /** The id of this run of the turn. */
  readonly run: string
  readonly signal: AbortSignal
  /** Undefined while the turn runs. A cancelled reply is returned as far as it was generated. */
  readonly stopped: string | undefined
  /** The start, on the clock of `performance`. */
  readonly begunAt: number
  readonly stopwatch: Stopwatch
  /** The reply so far, as Markdown. */
  readonly text: string
  readonly length: number
  /** True if a reader may have seen text, so that it cannot be taken back. */
  readonly wasShown: boolean
  /** Returns the final form of a beginning of the text, with checked citations. */
  settle: (text: string) => string
  append(piece: string): void
  /** Empties the text before another attempt. */
  restart(): void
}
