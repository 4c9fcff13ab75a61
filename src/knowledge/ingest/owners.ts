/** In place of a key that is not known. */
const UNKNOWN = 'unknown'
/** Keys of one agent that count. With more, a tenant with many keys could have a share for each set of them. */
const MOST_KEYS = 2

/**
 * Which keys have changed each agent's knowledge since its last rest. The agents of one key, or of the same two keys, share with other keys as one: otherwise a
 * key with many agents would have as many shares, and a key that makes a small change to an agent would pay for the work that another key has caused there.
 * Agents of which no key is known, as after a start, share as if they were of one key.
 */
export class Owners {
  readonly #keys = new Map<string, readonly string[]>()
  /** Agents without work: the next change begins a new list of keys. */
  readonly #resting = new Set<string>()

  /** `key`: an id; undefined where the service itself makes the change. */
  note(agentId: string, key: string | undefined): void {
    if (key === undefined) return
    const known = this.#resting.delete(agentId) ? [] : (this.#keys.get(agentId) ?? [])
    if (known.length < MOST_KEYS && !known.includes(key)) this.#keys.set(agentId, [...known, key].sort())
  }

  /** The agent has work that was begun before the start, or by another process. */
  resume(agentId: string): void {
    if (!this.#keys.has(agentId)) this.#keys.set(agentId, [UNKNOWN])
  }

  /** The agent has no work. It keeps its keys until the next change. */
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
