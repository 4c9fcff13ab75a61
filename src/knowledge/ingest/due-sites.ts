import { BaseBusy, type KnowledgeStore } from '../../store/knowledge-base.ts'

/** The longest that a timer waits, so that a clock that was set is noticed. */
const LOOK_EVERY_MS = 60_000

/** Wakes agents whose sites are due to be brought up to date, from notes that outlive the process. */
export class DueSites {
  readonly #store: KnowledgeStore
  readonly #wake: (agentId: string) => void
  readonly #due: Map<string, number>
  /** Notes that could not be made yet, because another process was changing the base. */
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
    this.#note(agentId, at)
    if (at === null) this.#due.delete(agentId)
    else this.#due.set(agentId, at)
    this.#plan()
  }

  /** What other processes noted is noticed, too. */
  look(): void {
    for (const [agentId, at] of this.#unnoted) this.#note(agentId, at)
    for (const [agentId, at] of this.#store.listDue()) if (!this.#unnoted.has(agentId)) this.#due.set(agentId, at)
    this.#look()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #note(agentId: string, at: number | null): void {
    this.#unnoted.delete(agentId)
    try {
      this.#store.markDue(agentId, at)
    } catch (error) {
      if (!(error instanceof BaseBusy)) throw error
      this.#unnoted.set(agentId, at)
    }
  }

  #plan(): void {
    clearTimeout(this.#timer)
    if (this.#due.size === 0) return
    const next = Math.min(...this.#due.values())
    this.#timer = setTimeout(() => this.#look(), Math.min(LOOK_EVERY_MS, Math.max(0, next - Date.now())))
    this.#timer.unref()
  }

  #look(): void {
    for (const [agentId, at] of this.#due) {
      if (at > Date.now()) continue
      this.#due.delete(agentId)
      this.#wake(agentId)
    }
    this.#plan()
  }
}
