import type { KnowledgeStore } from '../../../store/knowledge/base.ts'

/** The longest that a timer waits, so that a clock that was set is noticed. */
const LOOK_EVERY_MS = 60_000

/** Wakes agents whose sites are due to be brought up to date, from notes that outlive the process. */
export class DueSites {
  readonly #store: KnowledgeStore
  readonly #wake: (agentId: string) => void
  readonly #due: Map<string, number>
  /** Notes that could not be made yet: the store is out of reach, or another process is changing the base. */
  readonly #unnoted = new Map<string, number | null>()
  #timer: NodeJS.Timeout | undefined

  constructor(store: KnowledgeStore, wake: (agentId: string) => void) {
    this.#store = store
    this.#wake = wake
    this.#due = store.listDue()
    this.#plan()
  }

  /** When the agent's next site is due; null: none is. */
  set(agentId: string, at: number | null): void {
    if (at !== null && this.#due.get(agentId) === at) return
    if (at === null) this.#due.delete(agentId)
    else this.#due.set(agentId, at)
    this.#unnoted.set(agentId, at)
    this.#noteAll()
    this.#plan()
  }

  /** What other processes noted is noticed, too. */
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
        // The next time.
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
