import type { Terminal } from './command.ts'

const BAR_CHARS = 30
/** Where nobody looks on, a sign of life now and then: short work leaves nothing in the log of a job. */
const LINE_EVERY_MS = 10_000
/** Before that, what is left cannot be told. */
const KNOWN_AFTER_MS = 3_000

/** How long work goes: a bar where somebody looks on, a plain line every ten seconds elsewhere. On stderr: answers are on stdout. */
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

  /** `unit` tells what is counted; where it is left out the share is told. */
  show(what: string, done: number, of: number, unit?: string): void {
    const now = this.#now()
    const share = of > 0 ? Math.min(1, done / of) : 0
    // Another kind of work has begun: what the last one took says nothing of it.
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

  /** Takes the bar away. */
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
