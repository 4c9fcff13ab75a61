/** A document as it was when its reading began. */
interface Version {
  number: number
  revision: number
}

interface SlowReading<R> {
  revision: number
  reading: Promise<R>
  isSettled: boolean
}

/** An agent that has so many under way waits for one of them: each holds its document in memory. */
const MOST = 2

/** Documents of one agent that take long to read, and are read while other documents, and other agents, are dealt with. */
export class SlowReadings<R> {
  readonly #readings = new Map<number, SlowReading<R>>()
  readonly #settled: () => void

  /** `settled` is called each time that one of them is read, or could not be. */
  constructor(settled: () => void) {
    this.#settled = settled
  }

  keep({ number, revision }: Version, reading: Promise<R>): void {
    const slow = { revision, reading, isSettled: false }
    this.#readings.set(number, slow)
    const settle = () => {
      slow.isSettled = true
      this.#settled()
    }
    reading.then(settle, settle)
  }

  /** Hands over the reading of this version. Undefined where none was kept. */
  take({ number, revision }: Version): Promise<R> | undefined {
    const slow = this.#readings.get(number)
    if (slow?.revision !== revision) return undefined
    this.#readings.delete(number)
    return slow.reading
  }

  /** The documents that can be dealt with now. `listed`: all that wait. What is kept of others is forgotten: they were changed or removed. */
  ready<D extends Version>(listed: readonly D[]): D[] {
    const revisions = new Map(listed.map(({ number, revision }) => [number, revision]))
    for (const [number, { revision, isSettled }] of this.#readings)
      if (isSettled && revisions.get(number) !== revision) this.#readings.delete(number)
    const isKept = (document: D) => this.#readings.get(document.number)?.revision === document.revision
    const settled = (document: D) => this.#readings.get(document.number)!.isSettled
    const isFull = this.underWay() >= MOST
    return listed.filter((document) => (isKept(document) ? settled(document) : !isFull))
  }

  underWay(): number {
    return this.#readings.values().reduce((sum, { isSettled }) => sum + (isSettled ? 0 : 1), 0)
  }

  /** The number of those that were not taken yet. */
  get size(): number {
    return this.#readings.size
  }
}
