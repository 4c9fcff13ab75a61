/** In place of a key that is not known. */
const UNKNOWN = 'unknown'

/**
 * Which key sent the last change of each agent's knowledge. A key that sees many agents shares with other keys as one, and its agents share within it.
 * Agents of which no key is known, as after a start, share as if they were of one key: otherwise a key with many agents would have as many shares then.
 */
export class Owners {
  readonly #keys = new Map<string, string>()

  /** `key`: an id; undefined where the service itself makes the change. */
  note(agentId: string, key: string | undefined): void {
    if (key !== undefined) this.#keys.set(agentId, key)
  }

  forget(agentId: string): void {
    this.#keys.delete(agentId)
  }

  /** Returns `key/agent`. */
  ownerOf(agentId: string): string {
    return `${this.#keys.get(agentId) ?? UNKNOWN}/${agentId}`
  }
}
