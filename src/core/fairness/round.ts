/** A value and its neighbours in a round. Only the round changes it. */
export interface RoundEntry<Value> {
  name: string
  value: Value
  before: RoundEntry<Value> | undefined
  after: RoundEntry<Value> | undefined
}

/** Values by name, in the order of their turns. A `Map` does not fit: its iterators step over all deleted entries at its front. */
export class Round<Value> {
  readonly #places = new Map<string, RoundEntry<Value>>()
  #last: RoundEntry<Value> | undefined
  /** The entry whose turn is next. */
  first: RoundEntry<Value> | undefined

  get isEmpty(): boolean {
    return this.first === undefined
  }

  get(name: string): Value | undefined {
    return this.#places.get(name)?.value
  }

  /** Adds a value with a new name at the end. */
  add(name: string, value: Value): void {
    const place = { name, value, before: undefined, after: undefined }
    this.#places.set(name, place)
    this.#append(place)
  }

  moveToEnd(name: string): void {
    const place = this.#places.get(name)
    if (place === undefined || place === this.#last) return
    this.#unlink(place)
    this.#append(place)
  }

  delete(name: string): void {
    const place = this.#places.get(name)
    if (place === undefined) return
    this.#places.delete(name)
    this.#unlink(place)
  }

  #append(place: RoundEntry<Value>): void {
    place.before = this.#last
    place.after = undefined
    if (this.#last === undefined) this.first = place
    else this.#last.after = place
    this.#last = place
  }

  #unlink({ before, after }: RoundEntry<Value>): void {
    if (before === undefined) this.first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
  }
}
