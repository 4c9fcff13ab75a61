/** A document as it was when its reading began. */
interface Version {
  number: number
  revision: number
}

interface SlowReading<V, R> {
  document: V
  /** Size of the document while it is read, then size of the result. */
  bytes: number
  reading: Promise<R>
  isSettled: boolean
}

export interface SlowReadingsParts<V, R> {
  /** Returns true for a document that is usually read immediately. Other slow documents do not delay it. */
  isQuick?: (document: V) => boolean
  /** Called when a reading succeeds or fails. */
  settled?: () => void
  /** Called for a document whose reading is discarded: it is read again, or has changed. */
  givenUp?: (document: V) => void
  /** Returns the size of a result, in bytes. */
  sizeOf?: (result: R) => number
  /** Returns true if a result of this size may wait in memory for the agent's next turn. */
  mayHold?: (bytes: number) => boolean
}

/** Each reading needs memory for its document. If an agent has this many, further documents wait until one is done. */
const MOST = 2
/** The same for documents of `isQuick`. */
const MOST_QUICK = 8

/** Documents up to this size do not count towards memory limits. */
export const SMALL_BYTES = 65_536

/**
 * Slow documents of one agent. They are read while other documents are indexed, and the result waits for the agent's next turn. If there is no room for the
 * result, the document is read again: a small file can contain much text.
 */
export class SlowReadings<V extends Version, R> {
  readonly #readings = new Map<number, SlowReading<V, R>>()
  readonly #parts: Required<SlowReadingsParts<V, R>>

  constructor({
    isQuick = () => false,
    settled = () => {},
    givenUp = () => {},
    sizeOf = () => 0,
    mayHold = () => true,
  }: SlowReadingsParts<V, R> = {}) {
    this.#parts = { isQuick, settled, givenUp, sizeOf, mayHold }
  }

  /** `bytes`: the size of the document. */
  keep(document: V, reading: Promise<R>, bytes: number): void {
    this.#giveUp(document.number)
    const slow = { document, bytes, reading, isSettled: false }
    this.#readings.set(document.number, slow)
    const settle = (resultBytes: number) => {
      slow.isSettled = true
      slow.bytes = 0
      if (this.#readings.get(document.number) === slow && resultBytes > SMALL_BYTES && !this.#parts.mayHold(resultBytes))
        this.#giveUp(document.number)
      slow.bytes = resultBytes
      this.#parts.settled()
    }
    reading.then(
      (result) => settle(this.#parts.sizeOf(result)),
      () => settle(0),
    )
  }

  /** Removes and returns the reading of this version, or undefined. */
  take({ number, revision }: Version): Promise<R> | undefined {
    const slow = this.#readings.get(number)
    if (slow?.document.revision !== revision) return undefined
    this.#readings.delete(number)
    return slow.reading
  }

  /** Returns true if there is a reading of this version. */
  has({ number, revision }: Version): boolean {
    return this.#readings.get(number)?.document.revision === revision
  }

  /** Returns the documents that can be indexed now. `listed`: all waiting documents. Discards finished readings of documents that were changed or removed. */
  ready<D extends V>(listed: readonly D[]): D[] {
    const revisions = new Map(listed.map(({ number, revision }) => [number, revision]))
    for (const [number, { document, isSettled }] of this.#readings)
      if (isSettled && revisions.get(number) !== document.revision) this.#giveUp(number)
    const settled = (document: D) => this.#readings.get(document.number)!.isSettled
    const { isQuick } = this.#parts
    const quick = this.#countUnderWay(isQuick)
    const isFull = { quick: quick >= MOST_QUICK, other: this.underWay() - quick >= MOST }
    return listed.filter((document) => (this.has(document) ? settled(document) : !isFull[isQuick(document) ? 'quick' : 'other']))
  }

  underWay(): number {
    return this.#countUnderWay(() => true)
  }

  #countUnderWay(isOfKind: (document: V) => boolean): number {
    return this.#readings.values().reduce((sum, { document, isSettled }) => sum + (!isSettled && isOfKind(document) ? 1 : 0), 0)
  }

  /** Memory of the readings in bytes, without small ones. */
  get bytes(): number {
    return this.#readings.values().reduce((sum, { bytes }) => sum + (bytes <= SMALL_BYTES ? 0 : bytes), 0)
  }

  /** The number of readings that `take` has not returned yet. */
  get size(): number {
    return this.#readings.size
  }

  documents(): V[] {
    return [...this.#readings.values().map(({ document }) => document)]
  }

  #giveUp(number: number): void {
    const slow = this.#readings.get(number)
    if (slow === undefined) return
    this.#readings.delete(number)
    this.#parts.givenUp(slow.document)
  }
}
