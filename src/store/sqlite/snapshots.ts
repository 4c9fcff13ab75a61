import { statSync } from 'node:fs'

const LOOK_EVERY_MS = 250
/** Most readers finish earlier. */
const YOUNG_MS = 1_000

interface Snapshot {
  since: number
  cut: () => void
}

/** Readers of snapshots. While one reads, the write-ahead log grows with every write, and the whole process waits for its checkpoint at the end. */
export class Snapshots {
  readonly #log: string
  readonly #maxLogBytes: number
  readonly #open = new Set<Snapshot>()
  #timer: NodeJS.Timeout | undefined

  /** @param log the path of the write-ahead log */
  constructor(log: string, maxLogBytes: number) {
    this.#log = log
    this.#maxLogBytes = maxLogBytes
  }

  /** Adds a reader. Calls `cut` if it still reads after a second and the log is too large. Returns a function that removes it. */
  add(cut: () => void): () => void {
    const snapshot = { since: performance.now(), cut }
    this.#open.add(snapshot)
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
    return () => {
      this.#open.delete(snapshot)
      if (this.#open.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  #look(): void {
    const bytes = statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0
    if (bytes <= this.#maxLogBytes) return
    const begunBefore = performance.now() - YOUNG_MS
    for (const snapshot of this.#open) {
      if (snapshot.since >= begunBefore) continue
      // An idle reader notices this only when it continues to read.
      this.#open.delete(snapshot)
      snapshot.cut()
    }
  }
}
