import type { KnowledgeBase } from '../../store/knowledge-base.ts'

/** A burst of changes waits for the disk so often at most: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20

interface Change {
  agentId: string
  run: (base: KnowledgeBase) => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface ChangesParts {
  /** The file to change, with a note on the disk that there will be work in it. */
  open: (agentId: string) => KnowledgeBase
  /** Something of this agent was changed. */
  changed: (agentId: string) => void
}

/** Changes of knowledge files. All asked for at about the same time share one transaction an agent, and one wait for the disk. */
export class Changes {
  readonly #parts: ChangesParts
  #waiting: Change[] = []
  #flushedAt = Number.NEGATIVE_INFINITY

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  /** Resolves once the change is on the disk; with undefined where the agent is removed before. */
  commit<T>(agentId: string, run: (base: KnowledgeBase) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ agentId, run, resolve, reject }) > 1) return
      const wait = this.#flushedAt + FLUSH_EVERY_MS - performance.now()
      if (wait > 0) setTimeout(() => this.flush(), wait)
      else setImmediate(() => this.flush())
    })
  }

  removeAgent(agentId: string): void {
    for (const change of this.#waiting) if (change.agentId === agentId) change.resolve(undefined as never)
    this.#waiting = this.#waiting.filter((change) => change.agentId !== agentId)
  }

  flush(): void {
    this.#flushedAt = performance.now()
    const changes = this.#waiting
    this.#waiting = []
    for (const [agentId, group] of Map.groupBy(changes, (change) => change.agentId)) this.#together(agentId, group)
  }

  #together(agentId: string, changes: readonly Change[]): void {
    try {
      const base = this.#parts.open(agentId)
      const results = base.write(() => changes.map((change) => change.run(base)))
      for (const [i, change] of changes.entries()) change.resolve(results[i] as never)
      this.#parts.changed(agentId)
    } catch (error) {
      // One that fails must not fail the others: each gets a transaction of its own.
      if (changes.length === 1) changes[0]!.reject(error)
      else for (const change of changes) this.#together(agentId, [change])
    }
  }
}
