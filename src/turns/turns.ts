import { busy, type ReparteeError, stopping, waitedTooLong } from '../core/errors.ts'
import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Session } from '../core/session.ts'
import { Stopwatch } from '../reply/stopwatch.ts'
import type { WaitingPosition } from '../store/tables/processes/send-queue.ts'
import type { LeaseRequest, TurnLease } from '../store/tables/turns.ts'
import type { Exchange } from './exchange.ts'
import { SharedWork } from './shared-work.ts'
import { type StopReason, Turn } from './turn.ts'

interface Waiter {
  start: () => void
  leave: (why: ReparteeError) => void
  /** The position in the queue of all processes. Undefined if there is only this process. */
  position: Promise<number | undefined>
}

/** The running turn and the waiting sends of a busy session. The array is shared across turns, since a waiter's time-out must find itself in it. */
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
  /** Resolves to the queue position of a send, or undefined with one process. Throws `session_busy` if too many wait, or `session_not_found`. */
  enter(agentId: string, sessionId: string): Promise<number | undefined>
  leave(agentId: string, sessionId: string, position: number): void
  /** Resolves when the session is free for this turn, the first of its process. Throws as `enter` does, and `session_busy` after too long a wait. */
  waitFor(turn: Turn): Promise<void>
  /** Returns the position in the store's format. Undefined with one process. */
  positionOf(turn: Turn): WaitingPosition | undefined
}

/** The turns of this process: one at a time per session. Other sends wait in order of arrival, up to a maximum number and time. */
export class Turns {
  readonly #lines = new Map<string, Line>()
  /** By the message that they answer, from when the message is stored until the sender has its result. */
  readonly #byMessage = new Map<string, Turn>()
  readonly #timers = new Map<Turn, NodeJS.Timeout>()
  /** Polls for the ends of turns of other processes, by message. */
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

  /** The number of busy sessions. */
  get running(): number {
    return this.#lines.size
  }

  /** The number of sends that wait for an earlier turn. */
  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.#lines.values()) sum += waiting.length
    return sum
  }

  /** True if no new turn can begin. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns true if no turn of this process runs or waits in the session. */
  isFree(sessionId: string): boolean {
    return !this.#lines.has(sessionId)
  }

  /** Resolves when the send may run. Throws `session_busy` if too many sends wait, or the wait takes too long. */
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

  /** Waits until the previous send has entered the queue. */
  async #enter(agentId: string, sessionId: string, before: Waiter | undefined): Promise<number | undefined> {
    await before?.position.catch(() => {})
    return this.#queue.enter(agentId, sessionId)
  }

  /** Makes the turn findable once its message is stored, and starts its time limit. */
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

  /** Returns the turn of this process that answers a message or regenerates its reply. */
  find(messageId: string): Turn | undefined {
    return this.#byMessage.get(messageId)
  }

  /** Releases the session and starts its next send. Can be called twice. */
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

  /** Removes a turn whose sender can get its result. From now on only the store knows the turn. */
  forget(turn: Turn): void {
    if (turn.messageId !== undefined && this.#byMessage.get(turn.messageId) === turn) this.#byMessage.delete(turn.messageId)
  }

  /** Stops the running turn of a session, if any. */
  stop(sessionId: string, reason: StopReason): void {
    this.#lines.get(sessionId)?.turn.stop(reason)
  }

  /** Returns the turn with a lease, if this process runs it. */
  findLease(lease: string): Turn | undefined {
    for (const { turn } of this.#lines.values()) if (turn.lease === lease) return turn
    return undefined
  }

  stopAgent(agentId: string, reason: StopReason): void {
    for (const { turn } of this.#lines.values()) if (turn.agentId === agentId) turn.stop(reason)
  }

  /** Stops all running turns, and rejects all waiting sends. */
  close(): void {
    this.#isClosed = true
    for (const { turn, waiting } of this.#lines.values()) {
      for (const { leave } of [...waiting]) leave(stopping())
      turn.stop('stopping')
    }
  }

  /** Returns the leases of turns that started before a time. */
  leasesOlderThan(time: number): TurnLease[] {
    const places: TurnLease[] = []
    for (const { turn } of this.#lines.values()) {
      if (turn.messageId !== undefined && turn.startedAt < time) places.push(toLease(turn))
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

export const toLease = ({ agentId, sessionId, lease }: Turn): TurnLease => ({ agentId, sessionId, lease })

interface HoldDeps {
  clock: Clock
  limits: { leaseMs: number }
  peers: TurnQueue
}

/** Returns the parameters for leasing the session of a turn. */
export const leaseRequestOf = ({ clock, limits, peers }: HoldDeps, turn: Turn, session: Session): LeaseRequest => ({
  leaseUntil: clock() + limits.leaseMs,
  messages: session.totalMessages,
  condition: turn.condition,
  queue: peers.positionOf(turn),
})
