import { wholeOf } from '../../../core/fairness/in-turn.ts'
import { type Sharer, Shares } from '../../../core/fairness/shares.ts'
import type { KnowledgeBase } from '../../../store/knowledge/base.ts'
import type { Owners } from '../owners.ts'

/** A slow network task of an agent. */
interface Item {
  number: number
}

export interface NetQueueParts<T extends Item> {
  /** Items in progress at once, in total and per agent. `Shares` divides them among keys: a key may take half of what the others leave. */
  atOnce: number
  atOnceOfAgent: number
  owners: Owners
  /** Lists the waiting items of an agent, longest waiting first, without the numbers in `except`. */
  list: (base: KnowledgeBase, except: ReadonlySet<number>, most: number, agentId: string) => T[]
  /** Marks items as started. Runs in a transaction of the caller. */
  start: (base: KnowledgeBase, items: readonly T[]) => void
  /** How long an item may keep its slot while another agent waits, in milliseconds. */
  turnMs: number
  /**
   * Does the work and stores the result. Errors are ignored, and the work is tried again later. May stop early when `isTurnOver` returns true; the rest waits
   * again. `pausedMs`: time that does not count as part of the turn.
   */
  run: (agentId: string, item: T, signal: AbortSignal, isTurnOver: (pausedMs?: number) => boolean) => Promise<void>
  /** Called if there may be room for more items of an agent, or its work may be complete. */
  wake: (agentId: string) => void
}

/** Runs network tasks, a few at once. Keys have shares, and agents take turns. */
export class NetQueue<T extends Item> {
  readonly #parts: NetQueueParts<T>
  readonly #underWay = new Map<string, Map<number, AbortController>>()
  readonly #shares: Shares
  /** Agents that wait for a slot, longest waiting first. */
  readonly #hungry = new Set<string>()

  constructor(parts: NetQueueParts<T>) {
    this.#parts = parts
    this.#shares = new Shares(parts.atOnce)
  }

  /** Returns true if an item of this agent is in progress or waits for a slot. */
  isBusy(agentId: string): boolean {
    return this.#underWay.has(agentId) || this.#hungry.has(agentId)
  }

  /** Returns the numbers of the items in progress of this agent. */
  numbersOf(agentId: string): number[] {
    return [...(this.#underWay.get(agentId)?.keys() ?? [])]
  }

  /** Returns the numbers of the items in progress, by agent. */
  underWay(): [agentId: string, numbers: number[]][] {
    const isWanted = ([, stop]: [number, AbortController]) => !stop.signal.aborted
    return [...this.#underWay].map(([agentId, own]) => [agentId, [...own].filter(isWanted).map(([number]) => number)])
  }

  /** Starts waiting items of an agent, as far as there are free slots. */
  fill(agentId: string, base: KnowledgeBase): void {
    const { atOnceOfAgent, list, wake } = this.#parts
    const own = new Set(this.#underWay.get(agentId)?.keys())
    // Agents that have waited longer come first. While others wait, each agent gets one slot.
    const most = this.#nextHungry(agentId) === undefined ? atOnceOfAgent - own.size : 1
    const room = Math.max(0, Math.min(this.#freeFor(agentId) - this.#aheadOf(agentId), most, atOnceOfAgent - own.size))
    const isHungry = this.#hungry.has(agentId)
    const next = list(base, own, room + 1, agentId)
    // An agent that got a slot goes to the end of the queue.
    if (next.length <= room || (isHungry && room > 0)) this.#hungry.delete(agentId)
    if (next.length > room) this.#hungry.add(agentId)
    if (room > 0) this.#begin(agentId, base, next.slice(0, room))
    // There may be room for other agents too.
    const hungry = this.#nextHungry(agentId)
    if (hungry !== undefined) wake(hungry)
  }

  #begin(agentId: string, base: KnowledgeBase, items: readonly T[]): void {
    if (items.length === 0) return
    const { turnMs, start, run } = this.#parts
    const own = this.#underWay.get(agentId) ?? new Map<number, AbortController>()
    const sharer = this.#sharerOf(agentId)
    base.write(() => start(base, items), { durable: false })
    this.#underWay.set(agentId, own)
    for (const item of items) {
      const stop = new AbortController()
      own.set(item.number, stop)
      this.#shares.take(sharer, 1)
      const startedAt = performance.now()
      const isTurnOver = (pausedMs = 0) => performance.now() - startedAt - pausedMs > turnMs && this.#isWanted(agentId, sharer)
      run(agentId, item, stop.signal, isTurnOver)
        .catch(() => {})
        .finally(() => this.#ended(agentId, sharer, own, item.number))
    }
  }

  /** Removes the agent from the queue until the next `fill`. */
  leave(agentId: string): void {
    this.#hungry.delete(agentId)
  }

  removeAgent(agentId: string): void {
    this.leave(agentId)
    for (const stop of this.#underWay.get(agentId)?.values() ?? []) stop.abort()
  }

  close(): void {
    for (const agentId of this.#underWay.keys()) this.removeAgent(agentId)
    this.#hungry.clear()
  }

  /** Returns the agent that has waited longest and may have more. If it then still waits, it goes to the end of the queue. */
  #nextHungry(except?: string): string | undefined {
    return this.#hungry.values().find((id) => id !== except && this.#mayHaveMore(id))
  }

  /** Returns the number of agents that have waited longer. */
  #aheadOf(agentId: string): number {
    let ahead = 0
    for (const id of this.#hungry) {
      if (id === agentId) break
      if (this.#mayHaveMore(id)) ahead++
    }
    return ahead
  }

  #mayHaveMore(agentId: string): boolean {
    const count = this.#underWay.get(agentId)?.size ?? 0
    return count < this.#parts.atOnceOfAgent && this.#shares.mayHave(this.#sharerOf(agentId), 1)
  }

  /** Returns how many more slots the key of this agent may take. */
  #freeFor(agentId: string): number {
    const sharer = this.#sharerOf(agentId)
    let free = 0
    for (; this.#shares.mayHave(sharer, 1); free++) this.#shares.take(sharer, 1)
    this.#shares.give(sharer, free)
    return free
  }

  /** Returns true if another agent would get the slot of an item of this agent. */
  #isWanted(agentId: string, sharer: Sharer): boolean {
    this.#shares.give(sharer, 1)
    const isWanted = this.#nextHungry(agentId) !== undefined
    this.#shares.take(sharer, 1)
    return isWanted
  }

  #sharerOf(agentId: string): Sharer {
    return { id: wholeOf(this.#parts.owners.ownerOf(agentId)) }
  }

  #ended(agentId: string, sharer: Sharer, own: Map<number, AbortController>, number: number): void {
    own.delete(number)
    if (own.size === 0 && this.#underWay.get(agentId) === own) this.#underWay.delete(agentId)
    this.#shares.give(sharer, 1)
    const next = this.#nextHungry()
    if (next !== undefined) this.#parts.wake(next)
    if (next !== agentId) this.#parts.wake(agentId)
  }
}
