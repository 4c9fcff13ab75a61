/** Replaces an unknown key. */
const UNKNOWN = 'unknown'
/** Keys per agent that count. With more, a tenant with many keys could have a share for each set of keys. */
const MOST_KEYS = 2

/**
 * Records which keys have changed each agent's knowledge since its last rest. The agents of one key, or of the same two keys, have one share together.
 * Otherwise a key with many agents would have many shares. Also, a key with a small change to an agent would pay for the work of another key there.
 * Agents without a known key, for example after a start, also have one share together.
 */
export class Owners {
  readonly #keys = new Map<string, readonly string[]>()
  /** Agents without work. The next change starts a new list of keys. */
  readonly #resting = new Set<string>()

  /** `key`: an id, or undefined if the service itself makes the change. */
  note(agentId: string, key: string | undefined): void {
    if (key === undefined) return
    const known = this.#resting.delete(agentId) ? [] : (this.#keys.get(agentId) ?? [])
    if (known.length < MOST_KEYS && !known.includes(key)) this.#keys.set(agentId, [...known, key].sort())
  }

  /** Registers an agent whose work was started before the restart, or by another process. */
  resume(agentId: string): void {
    if (!this.#keys.has(agentId)) this.#keys.set(agentId, [UNKNOWN])
  }

  /** Marks an agent without work. Its keys stay until the next change. */
  rest(agentId: string): void {
    this.#resting.add(agentId)
  }

  forget(agentId: string): void {
    this.#keys.delete(agentId)
    this.#resting.delete(agentId)
  }

  /** Returns `keys/agent`. */
  ownerOf(agentId: string): string {
    return `${this.#keys.get(agentId)?.join('+') ?? UNKNOWN}/${agentId}`
  }
}
