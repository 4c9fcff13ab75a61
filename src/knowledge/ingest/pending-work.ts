import { BaseBusy, type KnowledgeStore } from '../../store/knowledge/base.ts'
import { isTransient } from '../../store/transient.ts'
import type { AgentQueue } from './agent-queue.ts'
import type { AgentTurns } from './agent-turns.ts'
import type { OpenBases } from './open-bases.ts'
import type { Owners } from './owners.ts'
import type { WebWork } from './web/web-work.ts'
import { WriteFailure } from './write-documents.ts'

/** Failures in a row after which the work of an agent stops. Transient errors, such as a full disk or a lock, are always retried. */
const MAX_FAILURES = 3
const RETRY_AT_LEAST_EVERY_MS = 15_000

export interface PendingWorkParts {
  store: KnowledgeStore
  queue: AgentQueue
  turns: AgentTurns
  owners: Owners
  bases: OpenBases
  web: WebWork
  /** Delay before an agent is retried after a turn that failed. */
  retryAfterMs: number
  /** Time without changes after which the index of an agent is merged. */
  tidyAfterMs: number
  onIndexed: (agentId: string) => void
  /** Called with the number of agents that have pending work when it may have changed. */
  onMarked: (agents: number) => void
  warn: (about: string, error: unknown) => void
}

/**
 * The work of all agents and how far it is. An agent is pending, marked on the disk, until its documents are indexed. Then it rests. If nothing changes for a
 * while it is tidied: its index is merged.
 */
export class PendingWork {
  readonly #parts: PendingWorkParts
  /** Agents whose pending work is marked on the disk. */
  readonly #marked = new Set<string>()
  /** Agents that finished their work recently, and agents whose index is only to be merged. */
  readonly #resting = new Set<string>()
  readonly #tidying = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Timers of agents whose base could not be written and is retried. */
  readonly #retries = new Map<string, NodeJS.Timeout>()
  #restTimer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #active: string | undefined
  #isClosing = false

  constructor(parts: PendingWorkParts) {
    this.#parts = parts
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Agents with pending work, and agents whose index is to be merged. */
  get agents(): string[] {
    return [...this.#marked, ...this.#tidying]
  }

  isMarked(agentId: string): boolean {
    return this.#marked.has(agentId)
  }

  isTidying(agentId: string): boolean {
    return this.#tidying.has(agentId)
  }

  /** Returns true if the agent has a turn, or waits for one. */
  isBusy(agentId: string): boolean {
    return agentId === this.#active || this.#parts.queue.has(agentId)
  }

  /** Marks the agent's work on the disk, so that no crash loses it. */
  mark(agentId: string): void {
    if (this.#marked.has(agentId)) return
    this.#parts.store.markPending(agentId)
    this.#marked.add(agentId)
    this.#parts.onMarked(this.#marked.size)
  }

  /** Resumes the pending work of these agents, as marked in the store. */
  resume(agentIds: readonly string[]): void {
    for (const agentId of agentIds) {
      this.#parts.owners.resume(agentId)
      this.#marked.add(agentId)
      this.schedule(agentId)
    }
    this.#parts.onMarked(this.#marked.size)
  }

  /** Schedules an agent whose base was changed. */
  changed(agentId: string): void {
    this.#parts.queue.changed(agentId)
    this.#tidying.delete(agentId)
    this.schedule(agentId)
  }

  /** Schedules an agent with pending work, because something that it waited for is available. */
  wake(agentId: string): void {
    if (!this.#isClosing && this.#marked.has(agentId)) this.schedule(agentId)
  }

  schedule(agentId: string): void {
    this.#parts.queue.add(agentId)
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
  }

  /** The agent is deleted. Returns true if its work was marked. */
  forget(agentId: string): boolean {
    for (const agents of [this.#parts.queue, this.#resting, this.#tidying]) agents.delete(agentId)
    clearTimeout(this.#retries.get(agentId))
    this.#retries.delete(agentId)
    const wasMarked = this.#marked.delete(agentId)
    this.#parts.onMarked(this.#marked.size)
    return wasMarked
  }

  /** Begins no more turns. */
  stop(): void {
    this.#isClosing = true
    clearTimeout(this.#restTimer)
    for (const timer of this.#retries.values()) clearTimeout(timer)
  }

  /** Resolves when the turn in progress has ended. */
  async stopped(): Promise<void> {
    await this.#running
  }

  async #work(): Promise<void> {
    const { queue, owners } = this.#parts
    for (;;) {
      const agentId = await queue.next(() => this.#isClosing)
      if (agentId === undefined) return
      this.#active = agentId
      const start = performance.now()
      const more = await this.#tryTurn(agentId)
      this.#active = undefined
      const now = queue.endTurn(agentId, start, more)
      // An agent without a mark was deleted during its turn.
      if (!this.#isPending(agentId)) continue
      if (more) queue.add(agentId)
      else if (!queue.has(agentId) && !this.#retries.has(agentId)) {
        this.#tryRest(agentId)
        queue.spent(owners.ownerOf(agentId), performance.now() - now)
      }
    }
  }

  #isPending(agentId: string): boolean {
    return this.#marked.has(agentId) || this.#tidying.has(agentId)
  }

  /** Resolves to true if the agent has more work. */
  async #tryTurn(agentId: string): Promise<boolean> {
    try {
      const result = await this.#parts.turns.take(agentId)
      this.#failures.delete(agentId)
      if (result === 'lost') this.#end(agentId)
      return result === 'more'
    } catch (error) {
      // An agent without a mark was deleted during its turn.
      if (this.#isPending(agentId)) this.#retry(agentId, error)
      return false
    }
  }

  #retry(agentId: string, error: unknown): void {
    const { turns, web, retryAfterMs, warn } = this.#parts
    const failures = (this.#failures.get(agentId) ?? 0) + 1
    this.#failures.set(agentId, failures)
    if (failures === 1 && !(error instanceof BaseBusy)) warn(`the knowledge base of agent ${agentId} cannot be worked on`, error)
    if (isTransient(error)) this.#tryLater(agentId, Math.min(retryAfterMs * failures, RETRY_AT_LEAST_EVERY_MS))
    // Attempts at each document are counted, so these failures end by themselves.
    else if (failures < MAX_FAILURES || error instanceof WriteFailure) this.#tryLater(agentId, retryAfterMs)
    else {
      // The work of the agent stops until the next change or start.
      this.#marked.delete(agentId)
      this.#failures.delete(agentId)
      turns.leave(agentId)
      web.leave(agentId)
      this.#parts.owners.rest(agentId)
    }
  }

  /** Another process does the work. */
  #end(agentId: string): void {
    this.#marked.delete(agentId)
    this.#tidying.delete(agentId)
    this.#parts.owners.rest(agentId)
  }

  /** Schedules the agent again after `ms`. Other agents get their turns until then. */
  #tryLater(agentId: string, ms: number): void {
    clearTimeout(this.#retries.get(agentId))
    const again = () => {
      this.#retries.delete(agentId)
      if (this.#isPending(agentId)) this.schedule(agentId)
    }
    this.#retries.set(agentId, setTimeout(again, ms).unref())
  }

  #tryRest(agentId: string): void {
    try {
      this.#rest(agentId)
    } catch {
      // The next turn reports the error.
      this.#tryLater(agentId, this.#parts.retryAfterMs)
    }
  }

  #rest(agentId: string): void {
    const { store, turns, bases, owners, onIndexed, onMarked } = this.#parts
    if (turns.isUnderWay(agentId)) return
    // Commits that did not wait for the disk must be durable before the mark of pending work is removed.
    const base = bases.get(agentId)?.held
    if (this.#marked.has(agentId)) base?.write(() => base.update('manifest', { set: 'version = version' }))
    if (!store.unmarkPending(agentId)) {
      this.schedule(agentId)
      return
    }
    this.#marked.delete(agentId)
    owners.rest(agentId)
    onIndexed(agentId)
    onMarked(this.#marked.size)
    // The write-ahead log is large after a burst of documents.
    if (this.#tidying.delete(agentId)) base?.scrub()
    else this.#tidyAfterRest(agentId)
  }

  #tidyAfterRest(agentId: string): void {
    this.#resting.add(agentId)
    clearTimeout(this.#restTimer)
    this.#restTimer = setTimeout(() => {
      for (const rested of this.#resting) {
        this.#tidying.add(rested)
        this.schedule(rested)
      }
      this.#resting.clear()
    }, this.#parts.tidyAfterMs)
  }
}
