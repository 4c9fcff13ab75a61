/**
 * Which key sent the last change of each agent's knowledge. A key that sees many agents shares with other keys as one, and its agents share within it.
 * Where no key is known, such as after a start, an agent shares as if it had a key of its own.
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

  /** Returns `key/agent`, or the agent's id where no key is known. */
  ownerOf(agentId: string): string {
    const key = this.#keys.get(agentId)
    return key === undefined ? agentId : `${key}/${agentId}`
  }
}
