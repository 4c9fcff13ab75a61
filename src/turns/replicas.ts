import { setTimeout as pause } from 'node:timers/promises'
import type { KeyCache } from '../access/key-cache.ts'
import type { AgentCache } from '../agents/agent-cache.ts'
import { busy, sessionNotFound, stopping, waitedTooLong } from '../core/errors.ts'
import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Session } from '../core/session.ts'
import type { WebhookCache } from '../events/webhook-cache.ts'
import type { Database } from '../store/database.ts'
import { askToFollow, deletePiecesBefore, deletePiecesOf, listFollowed } from '../store/tables/processes/followed-turns.ts'
import { deleteWindowsBefore } from '../store/tables/processes/rate-windows.ts'
import {
  askToStop,
  askToStopLease,
  beat,
  forgetLeftovers,
  listOthers,
  ownedId,
  readGeneration,
  readGenerationWith,
  type SeenReplica,
  settleReplica,
  takeStopRequests,
} from '../store/tables/processes/replicas.ts'
import { enterQueue, isFree, leaveQueue, type WaitingPosition } from '../store/tables/processes/send-queue.ts'
import { isLeased } from '../store/tables/turns.ts'
import { followTurn, publishTurn } from './follow-turn.ts'
import type { Announcement, FollowedTurn, Peers } from './peers.ts'
import { SharedWork } from './shared-work.ts'
import { type StopReason, Turn } from './turn.ts'
import type { TurnLimits, Turns } from './turns.ts'

/** A lock and a channel that reveal and notify a replica at once. Without them, replicas detect each other by heartbeats and poll for requests. */
export interface Presence {
  readonly lockId: number
  held(lockIds: number[]): Promise<Set<number>>
  tell(text: string): Promise<void>
  close(): Promise<void>
}

export interface ReplicaParts {
  db: Database
  agents: AgentCache
  keys: KeyCache
  webhooks: WebhookCache
  limits: TurnLimits
  clock: Clock
  newId: Ids
  presence: Presence | undefined
  warn: (about: string, error?: unknown) => void
}

/** A message between replicas. */
type News = { stop: string; reason: StopReason } | { follow: string } | Announcement

const BEAT_EVERY_MS = 2_000
/** A replica without a heartbeat for this time, and without a visible lock, is gone. */
const LOST_AFTER_MS = 15_000
/** A lock may disappear for a moment while its connection is reopened. */
const LOOK_AGAIN_AFTER_MS = 1_000
const LOOK_AT_START_AFTER_MS = 200
/** How often a send that waits for another replica's turn checks whether the turn has ended. */
const LOOK_EVERY_MS = 50
const STOPS_EVERY_MS = 500
const FORGET_EVERY_MS = 60_000

/** This process as one of several that use the same database. */
export class Replicas implements Peers {
  readonly id: string
  readonly #parts: ReplicaParts
  /** Undefined until `start`. */
  #turns: Turns | undefined
  readonly #timers: NodeJS.Timeout[] = []
  /** Work that a timer started and that has not ended. */
  readonly #underWay = new Set<Promise<void>>()
  #generation = -1
  /** When each replica was first missing, by id. */
  readonly #missed = new Map<string, number>()
  /** Turns whose text is published for readers in other processes. */
  readonly #published = new WeakSet<Turn>()
  /** Turns of other processes that this process reads, by lease. */
  readonly #followed = new SharedWork<FollowedTurn>()
  #tellChanged: () => void = () => {}

  constructor(id: string, parts: ReplicaParts) {
    this.id = id
    this.#parts = parts
    parts.keys.checkWith(() => this.#catchUp())
  }

  ownId(): string {
    return ownedId(this.id, this.#parts.newId())
  }

  leaseOf(turnId: string): string {
    return ownedId(this.id, turnId)
  }

  /** Registers this process, and ends the turns of processes that are gone. */
  async start(turns: Turns): Promise<void> {
    this.#turns = turns
    await this.#beat()
    if ((await this.#findLost(LOOK_AT_START_AFTER_MS)).length > 0 || this.#missed.size > 0) {
      await pause(LOOK_AT_START_AFTER_MS)
      await this.#settle(await this.#findLost(LOOK_AT_START_AFTER_MS))
    }
    const every = (ms: number, about: string, work: () => Promise<void>) => {
      let isBusy = false
      let isFailing = false
      const run = async () => {
        if (isBusy) return
        isBusy = true
        try {
          await work()
          isFailing = false
        } catch (error) {
          // Logged once per outage, not twice a second while the database is unavailable.
          if (!isFailing) this.#parts.warn(about, error)
          isFailing = true
        }
        isBusy = false
      }
      const begin = () => {
        const running = run().finally(() => this.#underWay.delete(running))
        this.#underWay.add(running)
      }
      this.#timers.push(setInterval(begin, ms))
    }
    every(BEAT_EVERY_MS, 'other replicas could not be looked after', async () => {
      await this.#beat()
      await this.#settle(await this.#findLost(LOOK_AGAIN_AFTER_MS))
    })
    every(FORGET_EVERY_MS, 'what is left of waiting could not be deleted', async () => {
      const { db, clock, limits } = this.#parts
      await forgetLeftovers(db, clock() - FORGET_EVERY_MS)
      await deletePiecesBefore(db, clock() - 2 * limits.turnTimeoutMs)
      await deleteWindowsBefore(db, clock())
    })
    every(STOPS_EVERY_MS, 'what other replicas want could not be read', async () => {
      await this.#catchUp()
      if (turns.running === 0) return
      for (const lease of await takeStopRequests(this.#parts.db, this.id)) turns.findLease(lease)?.stop('cancelled')
      for (const lease of await listFollowed(this.#parts.db, this.id)) this.#publish(lease)
    })
  }

  onChanged(callback: () => void): void {
    this.#tellChanged = callback
  }

  announce(announcement: Announcement): void {
    this.#send(announcement)
  }

  /** Processes that miss the message find out by polling. */
  #send(news: News): void {
    this.#parts.presence
      ?.tell(JSON.stringify(news))
      .catch((error: unknown) => this.#parts.warn('other replicas could not be told', error))
  }

  /** Handles a message from another replica. Ignores unknown messages. */
  hear(text: string): void {
    const news = readNews(text)
    if (news === undefined) return
    if ('stop' in news) this.#turns?.findLease(news.stop)?.stop(news.reason)
    else if ('follow' in news) this.#publish(news.follow)
    else if ('stopAgent' in news) this.#turns?.stopAgent(news.stopAgent, 'deleted')
    else this.#catchUp().catch((error: unknown) => this.#parts.warn('a change could not be read', error))
  }

  isRunning({ agentId, id }: Session): Promise<boolean> {
    return isLeased(this.#parts.db, agentId, id)
  }

  async stopTurn({ agentId, id }: Session, seq: number): Promise<boolean> {
    const lease = await askToStop(this.#parts.db, agentId, id, seq, this.#parts.clock())
    if (lease !== undefined) this.#send({ stop: lease, reason: 'cancelled' })
    return lease !== undefined
  }

  async stopDeleted(agentId: string, lease: string): Promise<void> {
    if (lease.startsWith(this.leaseOf(''))) return
    this.#send({ stop: lease, reason: 'deleted' })
    await askToStopLease(this.#parts.db, agentId, lease, this.#parts.clock())
  }

  /** Returns one shared turn to all callers. */
  async follow({ agentId, id }: Session, isWanted: () => boolean): Promise<FollowedTurn | undefined> {
    const { db, clock, warn } = this.#parts
    const lease = await askToFollow(db, agentId, id, clock())
    if (lease === undefined) return undefined
    this.#send({ follow: lease })
    return this.#followed.join(lease, isWanted, (isAnyWanted) => {
      const turn = new Turn(agentId, id, lease.slice(lease.indexOf('/') + 1), lease)
      const text = followTurn(db, turn, isAnyWanted).catch((error: unknown) =>
        warn('a turn elsewhere could not be followed', error),
      )
      return { result: { turn, text }, done: text }
    })
  }

  #publish(lease: string): void {
    const turn = this.#turns?.findLease(lease)
    if (turn === undefined || this.#published.has(turn)) return
    this.#published.add(turn)
    publishTurn(this.#parts.db, turn).catch((error: unknown) =>
      this.#parts.warn('a turn could not be shown to readers elsewhere', error),
    )
  }

  takeOver(work: () => Promise<void>): Promise<void> {
    return work()
  }

  positionOf({ position }: Turn): WaitingPosition {
    return { replica: this.id, now: this.#parts.clock(), position }
  }

  async enter(agentId: string, sessionId: string): Promise<number> {
    const { db, clock, limits } = this.#parts
    const now = clock()
    const waiter = { agentId, sessionId, replica: this.id, now, until: now + limits.maxWaitMs }
    const position = await enterQueue(db, waiter, limits.maxWaitingSends)
    if (position === 'gone') throw sessionNotFound()
    if (position === 'full') throw busy()
    return position
  }

  leave(agentId: string, sessionId: string, position: number): void {
    leaveQueue(this.#parts.db, { agentId, sessionId, replica: this.id }, position).catch(() => {}) // the position expires by itself
  }

  async waitFor(turn: Turn): Promise<void> {
    const { db, clock, limits } = this.#parts
    turn.position ??= await this.enter(turn.agentId, turn.sessionId)
    for (;;) {
      const free = await isFree(db, turn.agentId, turn.sessionId, this.id, clock())
      if (free === undefined) throw sessionNotFound()
      if (free) return
      if (this.#turns?.isClosed) throw stopping()
      if (performance.now() - turn.arrivedAt > limits.maxWaitMs) throw waitedTooLong()
      await pause(LOOK_EVERY_MS)
    }
  }

  /** If the database is unavailable, the other processes detect by themselves that this one is gone. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    // A later heartbeat would report this process as running for 20 seconds.
    await Promise.all(this.#underWay)
    await this.#settleOne(this.id).catch((error: unknown) =>
      this.#parts.warn('other replicas could not be notified that this process ends', error),
    )
    await this.#parts.presence?.close()
  }

  async #settleOne(replica: string): Promise<number | undefined> {
    const { db, webhooks } = this.#parts
    const settler = this.ownId()
    await deletePiecesOf(db, replica)
    return settleReplica(db, replica, settler, webhooks.queueFailed(settler))
  }

  #beat(): Promise<void> {
    const { db, clock, presence } = this.#parts
    return beat(db, this.id, clock(), presence?.lockId ?? null)
  }

  /** Drops all caches if an agent, a key or a webhook was changed by any process. */
  async #catchUp(): Promise<void> {
    this.#catchUpWith(await readGeneration(this.#parts.db))
  }

  readAhead(agentId: string, sessionId: string): () => Promise<Session | undefined> {
    return async () => {
      const { generation, session } = await readGenerationWith(this.#parts.db, agentId, sessionId)
      this.#catchUpWith(generation)
      return session
    }
  }

  #catchUpWith(generation: number): void {
    if (generation === this.#generation) return
    this.#generation = generation
    this.#parts.agents.forgetAll()
    this.#parts.keys.forget()
    this.#parts.webhooks.forget()
    this.#tellChanged()
  }

  async #findLost(missedForMs: number): Promise<SeenReplica[]> {
    const { db, clock, presence } = this.#parts
    const others = await listOthers(db, this.id)
    const held = await presence?.held(others.flatMap(({ lockId }) => lockId ?? []))
    const now = clock()
    const lost: SeenReplica[] = []
    for (const other of others) {
      const isSeen = other.lockId === null || held === undefined ? undefined : held.has(other.lockId)
      if (isSeen !== false) this.#missed.delete(other.id)
      else if (!this.#missed.has(other.id)) this.#missed.set(other.id, now)
      const isMissed = isSeen === false && now - this.#missed.get(other.id)! >= missedForMs
      if (isMissed || (isSeen === undefined && now - other.seenAt > LOST_AFTER_MS)) lost.push(other)
    }
    return lost
  }

  async #settle(lost: SeenReplica[]): Promise<void> {
    for (const { id } of lost) {
      this.#missed.delete(id)
      const turns = await this.#settleOne(id)
      if (turns) this.#parts.warn(`${turns} turns of a replica that is gone are marked as failed`)
    }
  }
}

function readNews(text: string): News | undefined {
  try {
    const news = JSON.parse(text) as unknown
    return typeof news === 'object' && news !== null ? (news as News) : undefined
  } catch {
    return undefined
  }
}
