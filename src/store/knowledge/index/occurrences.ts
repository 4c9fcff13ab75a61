const MAX_TIMES = 255

/** The occurrences of each term in passage order. Term n has `packed` from `starts[n]` to `starts[n + 1]`. */
export interface TermOccurrences {
  /** Term numbers, sorted by term. */
  numbers: Uint32Array
  packed: Int32Array
  starts: Int32Array
}

/** Collects the occurrences of terms passage by passage, and sorts them by term at the end. */
export class Occurrences {
  /** By number. Terms are numbered in order of their first occurrence. */
  readonly terms: string[] = []
  readonly #numbers = new Map<string, number>()
  /** Index of the newest occurrence, by term number. */
  #newest = new Int32Array(64).fill(-1)
  /** For each occurrence: its term number; and local number of the passage × 256 + times. */
  #termOf = new Int32Array(256)
  #packed = new Int32Array(256)
  #length = 0
  #local = 0
  /** Index of the first occurrence in the current passage. */
  #begun = 0
  #byTerm: TermOccurrences | undefined

  /** Starts a passage: the next `put` calls belong to it. Local numbers must ascend. */
  begin(local: number): void {
    this.#local = local
    this.#begun = this.#length
  }

  numberOf(term: string): number {
    let number = this.#numbers.get(term)
    if (number === undefined) {
      number = this.terms.push(term) - 1
      this.#numbers.set(term, number)
      if (number === this.#newest.length) this.#newest = grown(this.#newest, -1)
    }
    return number
  }

  put(number: number, times: number): void {
    const newest = this.#newest[number]!
    if (newest >= this.#begun) {
      if ((this.#packed[newest]! & 255) + times <= MAX_TIMES) this.#packed[newest]! += times
      return
    }
    if (this.#length === this.#packed.length) {
      this.#termOf = grown(this.#termOf, 0)
      this.#packed = grown(this.#packed, 0)
    }
    this.#newest[number] = this.#length
    this.#termOf[this.#length] = number
    this.#packed[this.#length++] = this.#local * 256 + times
  }

  /** Returns the occurrences sorted by term. Call it after the last `put`. */
  byTerm(): TermOccurrences {
    this.#byTerm ??= this.#sort()
    return this.#byTerm
  }

  #sort(): TermOccurrences {
    const { terms } = this
    const starts = new Int32Array(terms.length + 2)
    for (let i = 0; i < this.#length; i++) starts[this.#termOf[i]! + 2]!++
    for (let n = 2; n < starts.length; n++) starts[n]! += starts[n - 1]!
    const packed = new Int32Array(this.#length)
    // Starts are shifted by one entry, so that each start ends up where the next term begins.
    for (let i = 0; i < this.#length; i++) packed[starts[this.#termOf[i]! + 1]!++] = this.#packed[i]!
    const numbers = Uint32Array.from(terms, (_, n) => n).sort((a, b) => (terms[a]! < terms[b]! ? -1 : 1))
    return { numbers, packed, starts }
  }
}

function grown(numbers: Int32Array, filler: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2).fill(filler, numbers.length)
  larger.set(numbers)
  return larger
}
