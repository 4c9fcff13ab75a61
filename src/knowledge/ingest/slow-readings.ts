/** A document as it was when its reading began. */
interface Version {
  number: number
  revision: number
}

interface SlowReading<R> {
  revision: number
  bytes: number
  reading: Promise<R>
  isSettled: boolean
}

/** Each reading holds its document in memory. An agent with this many waits until one is done. */
const MOST = 2

/** Documents up to this size are no matter for memory. */
export const SMALL_BYTES = 65_536

/** Slow documents of one agent. They are read while other documents are indexed. */
export class SlowReadings<R> {
  readonly #readings = new Map<number, SlowReading<R>>()
  readonly #settled: () => void

  /** `settled` is called when a reading succeeds or fails. */
  constructor(settled: () => void) {
    this.#settled = settled
  }

  /** `bytes`: the size of the document. */
  keep({ number, revision }: Version, reading: Promise<R>, bytes: number): void {
    const slow = { revision, bytes, reading, isSettled: false }
    this.#readings.set(number, slow)
    const settle = () => {
      slow.isSettled = true
      this.#settled()
    }
    reading.then(settle, settle)
  }

  /** Removes and returns the reading of this version, or undefined. */
  take({ number, revision }: Version): Promise<R> | undefined {
    const slow = this.#readings.get(number)
    if (slow?.revision !== revision) return undefined
    this.#readings.delete(number)
    return slow.reading
  }

  /** Returns true if this version was kept. */
  has({ number, revision }: Version): boolean {
    return this.#readings.get(number)?.revision === revision
  }

  /** Returns the documents that can be indexed now. `listed`: all waiting documents. Forgets finished readings of other documents: those were changed or removed. */
  ready<D extends Version>(listed: readonly D[]): D[] {
    const revisions = new Map(listed.map(({ number, revision }) => [number, revision]))
    for (const [number, { revision, isSettled }] of this.#readings)
      if (isSettled && revisions.get(number) !== revision) this.#readings.delete(number)
    const settled = (document: D) => this.#readings.get(document.number)!.isSettled
    const isFull = this.underWay() >= MOST
    return listed.filter((document) => (this.has(document) ? settled(document) : !isFull))
  }

  underWay(): number {
    return this.#readings.values().reduce((sum, { isSettled }) => sum + (isSettled ? 0 : 1), 0)
  }

  /** The size of the documents that are still being read, without small ones. */
  get bytes(): number {
    return this.#readings.values().reduce((sum, { bytes, isSettled }) => sum + (isSettled || bytes <= SMALL_BYTES ? 0 : bytes), 0)
  }

  /** The number of readings that `take` has not returned yet. */
  get size(): number {
    return this.#readings.size
  }
}
