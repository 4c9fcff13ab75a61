import type { KnowledgeBase, KnowledgeStore } from '../../store/knowledge/base.ts'

/** Bases that stay open for writing. */
const OPEN_BASES = 16
/** Deleted text stays in the write-ahead log until the next checkpoint. A burst of deletes shares one checkpoint. */
const SCRUB_AFTER_MS = 200

/** The most recently used knowledge bases, open for writing. */
export class OpenBases {
  readonly #store: KnowledgeStore
  readonly #isBusy: (agentId: string) => boolean
  readonly #bases = new Map<string, KnowledgeBase>()
  /** Agents whose base has deleted text that may still be on the disk. */
  readonly #unscrubbed = new Set<string>()
  readonly #warn: (about: string, error: unknown) => void
  #scrubTimer: NodeJS.Timeout | undefined
  /** Agents whose scrub failed. The failure is logged once, not at every attempt. */
  readonly #failing = new Set<string>()

  /** `isBusy` returns true for an agent whose base must stay open. */
  constructor(
    store: KnowledgeStore,
    isBusy: (agentId: string) => boolean,
    warn: (about: string, error: unknown) => void = () => {},
  ) {
    this.#store = store
    this.#isBusy = isBusy
    this.#warn = warn
  }

  open(agentId: string): KnowledgeBase {
    let base = this.#bases.get(agentId)
    if (base === undefined) {
      base = this.#store.openToWrite(agentId)
      for (const idle of this.#bases.keys()) {
        if (this.#bases.size < OPEN_BASES) break
        if (!this.#isBusy(idle) && !this.#unscrubbed.has(idle)) this.#close(idle)
      }
    } else this.#bases.delete(agentId)
    this.#bases.set(agentId, base)
    return base
  }

  /** Opens an existing base: the base of a deleted agent must not be created again. */
  find(agentId: string): KnowledgeBase | undefined {
    // A shared store rejects changes to the base of a deleted agent.
    if (!this.#store.isShared && !this.#bases.has(agentId)) {
      const base = this.#store.openToRead(agentId)
      if (base === undefined) return undefined
      base.close()
    }
    return this.open(agentId)
  }

  /** Returns undefined if the base is not open. */
  get(agentId: string): KnowledgeBase | undefined {
    return this.#bases.get(agentId)
  }

  /** Notes that text was deleted from the agent's base and must also be erased from the disk. */
  scrubLater(agentId: string): void {
    this.#unscrubbed.add(agentId)
  }

  /** Schedules the erasure of deleted text, because the agent's deletions are complete. */
  scrub(agentId: string): void {
    if (this.#unscrubbed.has(agentId)) this.#scrubSoon()
  }

  /** Deletes the agent's base. */
  remove(agentId: string): void {
    this.#unscrubbed.delete(agentId)
    this.#close(agentId)
    this.#store.remove(agentId)
  }

  close(): void {
    clearTimeout(this.#scrubTimer)
    for (const [agentId, base] of this.#bases) {
      this.#tryScrub(agentId, base)
      this.#close(agentId)
    }
  }

  #close(agentId: string): void {
    this.#bases.get(agentId)?.close()
    this.#bases.delete(agentId)
  }

  #scrubSoon(): void {
    this.#scrubTimer ??= setTimeout(() => this.#scrubNext([...this.#unscrubbed]), SCRUB_AFTER_MS)
  }

  /** Scrubs one base, then pauses for the same time: while it waits for the disk, no document of any agent is indexed. */
  #scrubNext(agentIds: string[]): void {
    const agentId = agentIds.shift()
    if (agentId === undefined) {
      this.#scrubTimer = undefined
      if (this.#unscrubbed.size > 0) this.#scrubSoon()
      return
    }
    const start = performance.now()
    const base = this.#bases.get(agentId)
    if (base === undefined || this.#tryScrub(agentId, base)) this.#unscrubbed.delete(agentId)
    this.#scrubTimer = setTimeout(() => this.#scrubNext(agentIds), performance.now() - start)
  }

  /** Returns false if it must be retried, because of a reader or a full disk. */
  #tryScrub(agentId: string, base: KnowledgeBase): boolean {
    try {
      const isDone = base.scrub()
      this.#failing.delete(agentId)
      return isDone
    } catch (error) {
      if (!this.#failing.has(agentId))
        this.#warn(`deleted text could not be erased yet from the knowledge base of agent ${agentId}`, error)
      this.#failing.add(agentId)
      return false
    }
  }
}
