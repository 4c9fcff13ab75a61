/** Work that is done once for all callers that wait for the same at the same time. It is wanted as long as one of them wants it. */
export class SharedWork<T> {
  readonly #running = new Map<string, { result: T; wants: Set<() => boolean> }>()

  /**
   * Returns the result of work that is under way under this name, or begins it. `begin` gets a function that tells whether anybody still wants it, and
   * returns the result with a promise that settles when the work is done.
   */
  join(name: string, isWanted: () => boolean, begin: (isWanted: () => boolean) => { result: T; done: Promise<unknown> }): T {
    const running = this.#running.get(name)
    if (running !== undefined) {
      running.wants.add(isWanted)
      return running.result
    }
    const wants = new Set([isWanted])
    const { result, done } = begin(() => isAnyWanted(wants))
    this.#running.set(name, { result, wants })
    const end = () => this.#running.delete(name)
    done.then(end, end)
    return result
  }
}

function isAnyWanted(wants: Set<() => boolean>): boolean {
  for (const isWanted of wants) {
    if (isWanted()) return true
    wants.delete(isWanted)
  }
  return false
}
