import type { Terminal } from './command.ts'

const BAR_CHARS = 30
/** Without a terminal, progress is printed only at this interval, so that short work adds nothing to the log of a job. */
const LINE_EVERY_MS = 10_000
/** Before this time, the remaining time cannot be estimated. */
const KNOWN_AFTER_MS = 3_000

/** Shows the progress of long work on stderr: a bar on a terminal, else a line every ten seconds. Results are on stdout. */
export class Progress {
  readonly #terminal: Terminal
  readonly #now: () => number
  #startedAt: number
  #toldAt: number
  #share = 0

  constructor(terminal: Terminal, now: () => number = () => performance.now()) {
    this.#terminal = terminal
    this.#now = now
    this.#startedAt = now()
    this.#toldAt = this.#startedAt
  }

  /** `unit` is the counted unit. Without it, the percentage is shown. */
  show(what: string, done: number, of: number, unit?: string): void {
    const now = this.#now()
    const share = of > 0 ? Math.min(1, done / of) : 0
    // Another step has begun, so the previous duration no longer helps the estimate.
    if (share < this.#share) this.#startedAt = now
    this.#share = share
    const count = unit === undefined ? `${Math.floor(100 * share)} %` : `${done}/${of}${unit === '' ? '' : ` ${unit}`}`
    if (this.#terminal.isWatched) {
      this.#terminal.status(`${bar(share)} ${count}${this.#left(share, now)}  ${what}`)
    } else if (now - this.#toldAt >= LINE_EVERY_MS) {
      this.#toldAt = now
      this.#terminal.err(`${what}: ${count}${this.#left(share, now)}`)
    }
  }

  /** Removes the bar. */
  end(): void {
    this.#terminal.status('')
  }

  #left(share: number, now: number): string {
    const passedMs = now - this.#startedAt
    if (passedMs < KNOWN_AFTER_MS || share === 0 || share === 1) return ''
    const seconds = Math.round((passedMs * (1 / share - 1)) / 1000)
    return seconds < 90 ? `, ${seconds} s left` : `, ${Math.round(seconds / 60)} min left`
  }
}

function bar(share: number): string {
  const full = Math.floor(BAR_CHARS * share)
  return `[${'█'.repeat(full)}${'░'.repeat(BAR_CHARS - full)}]`
}
