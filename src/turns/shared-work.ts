/** Runs work once for all callers that wait for the same result at the same time. The work continues while any caller wants it. */
export class SharedWork<T> {
  readonly #running = new Map<string, { result: T; wants: Set<() => boolean> }>()

  /**
   * Returns the result of the work that runs under this name, or starts it. `begin` receives a function that returns whether any caller still wants the work.
   * `begin` returns the result, and a promise that settles when the work is done.
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
