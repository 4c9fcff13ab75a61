import type { KnowledgeBase, KnowledgeStore } from '../../store/knowledge/base.ts'

/** Bases kept open for writing. */
const OPEN_BASES = 16
/** Deleted text stays in the write-ahead log until that is folded into the file; a burst of deletes shares one pass. */
const SCRUB_AFTER_MS = 200

/** The knowledge bases that are open for writing: those used last. */
export class OpenBases {
  readonly #store: KnowledgeStore
  readonly #isBusy: (agentId: string) => boolean
  readonly #bases = new Map<string, KnowledgeBase>()
  /** Those from which something was deleted. */
  readonly #unscrubbed = new Set<string>()
  readonly #warn: (about: string, error: unknown) => void
  #scrubTimer: NodeJS.Timeout | undefined
  /** The log is told once, and not at every try. */
  readonly #failing = new Set<string>()

  /** `isBusy`: this agent's base stays open. */
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

  /** Opens a base that is there: that of an agent which was deleted must not be made again. */
  find(agentId: string): KnowledgeBase | undefined {
    // A shared store refuses changes of such a base.
    if (!this.#store.isShared && !this.#bases.has(agentId)) {
      const base = this.#store.openToRead(agentId)
      if (base === undefined) return undefined
      base.close()
    }
    return this.open(agentId)
  }

  /** Undefined where it is not open. */
  get(agentId: string): KnowledgeBase | undefined {
    return this.#bases.get(agentId)
  }

  /** Text was deleted from this agent's base, and must be gone from the disk, too. */
  scrubLater(agentId: string): void {
    this.#unscrubbed.add(agentId)
  }

  /** The deletions of this agent that were under way are over. */
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

  /** False where it must wait: for a reader, or for room on the disk. */
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
