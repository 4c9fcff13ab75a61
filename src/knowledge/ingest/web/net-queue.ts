import { wholeOf } from '../../../core/fairness/in-turn.ts'
import { type Sharer, Shares } from '../../../core/fairness/shares.ts'
import type { KnowledgeBase } from '../../../store/knowledge/base.ts'
import type { Owners } from '../owners.ts'

/** Something of an agent that takes its time on the network. */
interface Item {
  number: number
}

export interface NetQueueParts<T extends Item> {
  /** How much may be under way at once, of all keys and of one agent. `Shares` divides it among keys: one may have half of what no other takes. */
  atOnce: number
  atOnceOfAgent: number
  owners: Owners
  /** What waits in an agent's file, longest waiting first; not those of `except`. */
  list: (base: KnowledgeBase, except: ReadonlySet<number>, most: number, agentId: string) => T[]
  /** Marks it as begun. In a transaction of the caller. */
  start: (base: KnowledgeBase, items: readonly T[]) => void
  /** How long an item may keep its place while another agent waits, in milliseconds. */
  turnMs: number
  /**
   * Does the work and stores the result. Errors are ignored, and the work is tried again later. May stop early when `isTurnOver` returns true; the rest waits
   * again. `pausedMs`: time that does not count as part of the turn.
   */
  run: (agentId: string, item: T, signal: AbortSignal, isTurnOver: (pausedMs?: number) => boolean) => Promise<void>
  /** There may be room for more of an agent, or its work may be over. */
  wake: (agentId: string) => void
}

/** Does what waits for the network, a few at once. Keys have shares, and agents take turns. */
export class NetQueue<T extends Item> {
  readonly #parts: NetQueueParts<T>
  readonly #underWay = new Map<string, Map<number, AbortController>>()
  readonly #shares: Shares
  /** Agents that found no room. */
  readonly #hungry = new Set<string>()

  constructor(parts: NetQueueParts<T>) {
    this.#parts = parts
    this.#shares = new Shares(parts.atOnce)
  }

  /** Something of this agent is under way, or waits for room. */
  isBusy(agentId: string): boolean {
    return this.#underWay.has(agentId) || this.#hungry.has(agentId)
  }

  /** Returns the numbers of what is under way for this agent. */
  numbersOf(agentId: string): number[] {
    return [...(this.#underWay.get(agentId)?.keys() ?? [])]
  }

  /** Returns the numbers of what is under way, by agent. */
  underWay(): [agentId: string, numbers: number[]][] {
    const isWanted = ([, stop]: [number, AbortController]) => !stop.signal.aborted
    return [...this.#underWay].map(([agentId, own]) => [agentId, [...own].filter(isWanted).map(([number]) => number)])
  }

  /** Starts what waits in an agent's file, as far as there is room. */
  fill(agentId: string, base: KnowledgeBase): void {
    const { atOnceOfAgent, list, wake } = this.#parts
    const own = new Set(this.#underWay.get(agentId)?.keys())
    // Agents that have waited longer come first. While others wait, there is one place for each.
    const most = this.#nextHungry(agentId) === undefined ? atOnceOfAgent - own.size : 1
    const room = Math.max(0, Math.min(this.#freeFor(agentId) - this.#aheadOf(agentId), most, atOnceOfAgent - own.size))
    const isHungry = this.#hungry.has(agentId)
    const next = list(base, own, room + 1, agentId)
    // An agent that got a place goes to the end of the line.
    if (next.length <= room || (isHungry && room > 0)) this.#hungry.delete(agentId)
    if (next.length > room) this.#hungry.add(agentId)
    if (room > 0) this.#begin(agentId, base, next.slice(0, room))
    // There may be room for others, too.
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

  /** Removes the agent from the line until the next `fill`. */
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

  /** The one that waited longest and may have more; it goes to the end of the line if it is still hungry then. */
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

  /** Returns the most that the key of this agent may have in addition. */
  #freeFor(agentId: string): number {
    const sharer = this.#sharerOf(agentId)
    let free = 0
    for (; this.#shares.mayHave(sharer, 1); free++) this.#shares.take(sharer, 1)
    this.#shares.give(sharer, free)
    return free
  }

  /** Returns true if another agent would get the place that an item of this one has. */
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
