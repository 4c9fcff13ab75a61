import type { Stopwatch } from './stopwatch.ts'

/** Where a reply grows while it is made. A turn is one. */
export interface ReplyTarget {
  /** Names this run of the turn. */
  readonly run: string
  readonly signal: AbortSignal
  /** Undefined while it runs. A reply that was cancelled is returned as far as it came. */
  readonly stopped: string | undefined
  /** When it began, on the clock of `performance`. */
  readonly begunAt: number
  readonly stopwatch: Stopwatch
  /** The reply so far, as Markdown. */
  readonly text: string
  readonly length: number
  /** A reader may have seen the text, so it cannot be taken back. */
  readonly wasShown: boolean
  /** Returns what a beginning of the text becomes once its citations are checked. */
  settle: (text: string) => string
  append(piece: string): void
  /** Empties the text before another attempt. */
  restart(): void
}
