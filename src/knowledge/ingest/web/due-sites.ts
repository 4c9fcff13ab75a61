import type { KnowledgeStore } from '../../../store/knowledge/base.ts'

/** Longest wait of a timer, so that a change of the system clock is noticed. */
const LOOK_EVERY_MS = 60_000

/** Wakes agents whose sites are due for a refresh. The due times are stored and survive a restart. */
export class DueSites {
  readonly #store: KnowledgeStore
  readonly #wake: (agentId: string) => void
  readonly #due: Map<string, number>
  /** Due times that are not stored yet: the store is not reachable, or another process is changing the base. */
  readonly #unnoted = new Map<string, number | null>()
  #timer: NodeJS.Timeout | undefined

  constructor(store: KnowledgeStore, wake: (agentId: string) => void) {
    this.#store = store
    this.#wake = wake
    this.#due = store.listDue()
    this.#plan()
  }

  /** Sets when the agent's next site is due; null if no site is. */
  set(agentId: string, at: number | null): void {
    if (at !== null && this.#due.get(agentId) === at) return
    if (at === null) this.#due.delete(agentId)
    else this.#due.set(agentId, at)
    this.#unnoted.set(agentId, at)
    this.#noteAll()
    this.#plan()
  }

  /** Also reads the due times that other processes stored. */
  look(): void {
    this.#noteAll()
    for (const [agentId, at] of this.#store.listDue()) if (!this.#unnoted.has(agentId)) this.#due.set(agentId, at)
    this.#look()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #noteAll(): void {
    for (const [agentId, at] of this.#unnoted) {
      try {
        this.#store.markDue(agentId, at)
        this.#unnoted.delete(agentId)
      } catch {
        // The next check retries.
      }
    }
  }

  #plan(): void {
    clearTimeout(this.#timer)
    if (this.#due.size + this.#unnoted.size === 0) return
    const next = Math.min(...this.#due.values())
    this.#timer = setTimeout(() => this.#look(), Math.min(LOOK_EVERY_MS, Math.max(0, next - Date.now())))
    this.#timer.unref()
  }

  #look(): void {
    this.#noteAll()
    for (const [agentId, at] of this.#due) {
      if (at > Date.now()) continue
      this.#due.delete(agentId)
      this.#wake(agentId)
    }
    this.#plan()
  }
}
