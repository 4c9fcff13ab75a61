import { busy, type ReparteeError, stopping, waitedTooLong } from '../core/errors.ts'
import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Session } from '../core/session.ts'
import { Stopwatch } from '../reply/stopwatch.ts'
import type { WaitingPosition } from '../store/tables/send-queue.ts'
import type { Hold, TurnPlace } from '../store/tables/turns.ts'
import type { Exchange } from './exchange.ts'
import { SharedWork } from './shared-work.ts'
import { type StopReason, Turn } from './turn.ts'

interface Waiter {
  start: () => void
  leave: (why: ReparteeError) => void
  /** Among the sends of all processes; undefined if there is only this one. */
  position: Promise<number | undefined>
}

/** A busy session: the turn that runs in it, and those who wait. The array is kept across turns: a waiter's time-out must find itself in it. */
interface Line {
  turn: Turn
  waiting: Waiter[]
}

export interface TurnLimits {
  maxWaitingSends: number
  maxWaitMs: number
  turnTimeoutMs: number
}

/** Orders the sends of several processes in one session. */
export interface TurnQueue {
  leaseOf(turnId: string): string
  /**
   * Resolves to the position of a send that waits from now on, undefined if there is one process only. Throws `session_busy` if too many wait,
   * `session_not_found` if there is no such session.
   */
  enter(agentId: string, sessionId: string): Promise<number | undefined>
  leave(agentId: string, sessionId: string, position: number): void
  /** Resolves when the session is free for this turn, the first of its process. Throws as `enter` does, and `session_busy` if it takes too long. */
  waitFor(turn: Turn): Promise<void>
  /** The position as the store needs it. Undefined if there is one process only. */
  positionOf(turn: Turn): WaitingPosition | undefined
}

/** The turns of this process. One at a time for each session; others wait in order of arrival, so many and so long. */
export class Turns {
  readonly #lines = new Map<string, Line>()
  /** By the message that they answer, from when that is stored until the sender is told. */
  readonly #byMessage = new Map<string, Turn>()
  readonly #timers = new Map<Turn, NodeJS.Timeout>()
  /** Waits for the ends of turns of other processes, by message. */
  readonly ends = new SharedWork<Promise<Exchange | ReparteeError | undefined>>()
  readonly #limits: TurnLimits
  readonly #newId: Ids
  readonly #queue: TurnQueue
  #tellIdle: () => void = () => {}
  #isClosed = false

  constructor(limits: TurnLimits, newId: Ids, queue: TurnQueue) {
    this.#limits = limits
    this.#newId = newId
    this.#queue = queue
  }

  /** How many sessions are busy. */
  get running(): number {
    return this.#lines.size
  }

  /** How many sends wait for the turn before them. */
  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.#lines.values()) sum += waiting.length
    return sum
  }

  /** No turn begins any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Nothing runs or waits in the session, as far as this process knows. */
  isFree(sessionId: string): boolean {
    return !this.#lines.has(sessionId)
  }

  /** Resolves when it is this send's turn. Throws `session_busy` where too many wait already, or it took too long. */
  take(agentId: string, sessionId: string): Promise<Turn> {
    if (this.#isClosed) return Promise.reject(stopping())
    const arrivedAt = performance.now()
    const line = this.#lines.get(sessionId)
    if (line === undefined) return Promise.resolve(this.#open(agentId, sessionId, arrivedAt, []))
    const { waiting } = line
    if (waiting.length >= this.#limits.maxWaitingSends) return Promise.reject(busy())
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        start: () => {
          clearTimeout(timer)
          const turn = this.#open(agentId, sessionId, arrivedAt, waiting)
          waiter.position.then(
            (position) => {
              turn.position = position
              resolve(turn)
            },
            (why) => {
              this.release(turn)
              reject(why)
            },
          )
        },
        leave: (why) => {
          clearTimeout(timer)
          waiting.splice(waiting.indexOf(waiter), 1)
          waiter.position.then(
            (position) => position !== undefined && this.#queue.leave(agentId, sessionId, position),
            () => {},
          )
          reject(why)
        },
        position: this.#enter(agentId, sessionId, waiting.at(-1)),
      }
      const timer = setTimeout(() => waiter.leave(waitedTooLong()), this.#limits.maxWaitMs)
      waiting.push(waiter)
      waiter.position.catch((why) => waiting.includes(waiter) && waiter.leave(why))
    })
  }

  /** The send before it enters first. */
  async #enter(agentId: string, sessionId: string, before: Waiter | undefined): Promise<number | undefined> {
    await before?.position.catch(() => {})
    return this.#queue.enter(agentId, sessionId)
  }

  /** The message is stored: from now on the turn can be found, and its time runs. */
  start(turn: Turn, messageId: string, now: number): void {
    turn.messageId = messageId
    turn.startedAt = now
    turn.begunAt = performance.now()
    turn.stopwatch = new Stopwatch()
    this.#byMessage.set(messageId, turn)
    this.#timers.set(
      turn,
      setTimeout(() => turn.stop('late'), this.#limits.turnTimeoutMs),
    )
  }

  /** The turn that answers a message, or makes its reply anew, in this process. */
  find(messageId: string): Turn | undefined {
    return this.#byMessage.get(messageId)
  }

  /** Lets the next send of the session go. Safe to call twice. */
  release(turn: Turn): void {
    clearTimeout(this.#timers.get(turn))
    this.#timers.delete(turn)
    turn.release()
    const line = this.#lines.get(turn.sessionId)
    if (line?.turn !== turn) return
    const next = line.waiting.shift()
    if (next) next.start()
    else this.#lines.delete(turn.sessionId)
    if (this.#lines.size === 0) this.#tellIdle()
  }

  /** Resolves when no turn runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellIdle = resolve
      if (this.#lines.size === 0) resolve()
    })
  }

  /** To be called when the sender can be told: from now on the store alone knows of the turn. */
  forget(turn: Turn): void {
    if (turn.messageId !== undefined && this.#byMessage.get(turn.messageId) === turn) this.#byMessage.delete(turn.messageId)
  }

  /** Stops the turn that is running in a session, if one is. */
  stop(sessionId: string, reason: StopReason): void {
    this.#lines.get(sessionId)?.turn.stop(reason)
  }

  /** The turn under a lease, if it is one of this process. */
  findLease(lease: string): Turn | undefined {
    for (const { turn } of this.#lines.values()) if (turn.lease === lease) return turn
    return undefined
  }

  /** Stops the turns of an agent that are running. */
  stopAgent(agentId: string, reason: StopReason): void {
    for (const { turn } of this.#lines.values()) if (turn.agentId === agentId) turn.stop(reason)
  }

  /** Stops all that run, and sends away all that wait. */
  close(): void {
    this.#isClosed = true
    for (const { turn, waiting } of this.#lines.values()) {
      for (const { leave } of [...waiting]) leave(stopping())
      turn.stop('stopping')
    }
  }

  /** The leases of turns that started before a time. */
  leasesOlderThan(time: number): TurnPlace[] {
    const places: TurnPlace[] = []
    for (const { turn } of this.#lines.values()) {
      if (turn.messageId !== undefined && turn.startedAt < time) places.push(toPlace(turn))
    }
    return places
  }

  #open(agentId: string, sessionId: string, arrivedAt: number, waiting: Waiter[]): Turn {
    const id = this.#newId()
    const turn = new Turn(agentId, sessionId, id, this.#queue.leaseOf(id), arrivedAt)
    this.#lines.set(sessionId, { turn, waiting })
    return turn
  }
}

export const toPlace = ({ agentId, sessionId, lease }: Turn): TurnPlace => ({ agentId, sessionId, lease })

interface HoldDeps {
  clock: Clock
  limits: { leaseMs: number }
  peers: TurnQueue
}

/** How a turn takes its session. */
export const holdOf = ({ clock, limits, peers }: HoldDeps, turn: Turn, session: Session): Hold => ({
  leaseUntil: clock() + limits.leaseMs,
  messages: session.totalMessages,
  condition: turn.condition,
  queue: peers.positionOf(turn),
})
