import { busy } from '../core/errors.ts'
import type { Ids } from '../core/ports/ports.ts'
import type { Session } from '../core/session.ts'
import type { WaitingPosition } from '../store/tables/send-queue.ts'
import type { Turn } from './turn.ts'
import type { TurnQueue, Turns } from './turns.ts'

/** What a process sends to the others: their caches of agents, keys and webhooks are old, or the turns of a deleted agent must stop. */
export type Announcement = { changed: true } | { stopAgent: string }

/** A turn that another process runs; `text` resolves when all of its text is there. */
export interface FollowedTurn {
  turn: Turn
  text: Promise<void>
}

/** The other processes that serve the same database. `Replicas` knows them; `NoPeers` is for a process that has its database for itself. */
export interface Peers extends TurnQueue {
  /** Returns an id that shows to which process it belongs. */
  ownId(): string
  announce(announcement: Announcement): void
  /** Calls back whenever agents, keys or webhooks were changed, here or elsewhere. */
  onChanged(callback: () => void): void
  /**
   * Returns a function that reads the session and, in the same round trip, drops the caches that another process made old. Undefined if there
   * is no such process.
   */
  readAhead(agentId: string, sessionId: string): (() => Promise<Session | undefined>) | undefined
  /** Resolves to true if another process runs a turn in the session. */
  isRunning(session: Session): Promise<boolean>
  /** Stops the turn that another process runs for the `seq`-th message of a session. Resolves to false if there is none. */
  stopTurn(session: Session, seq: number): Promise<boolean>
  /** Stops the turn that another process runs in a session that was deleted. */
  stopDeleted(agentId: string, lease: string): Promise<void>
  /** Returns the turn that another process runs in a session, undefined if none does. Its text grows as long as any caller wants it. */
  follow(session: Session, isWanted: () => boolean): Promise<FollowedTurn | undefined>
  /** Does work that another process may have left undone. */
  takeOver(work: () => Promise<void>): Promise<void>
  /** Begins to serve these turns. */
  start(turns: Turns): Promise<void>
  /** The process is about to end. */
  close(): Promise<void>
}

/** A process that has its database for itself. */
export class NoPeers implements Peers {
  readonly #newId: Ids
  readonly #recover: () => Promise<void>

  /** `recover` settles what earlier processes left. */
  constructor(newId: Ids, recover = async () => {}) {
    this.#newId = newId
    this.#recover = recover
  }

  ownId(): string {
    return this.#newId()
  }

  leaseOf(turnId: string): string {
    return turnId
  }

  async enter(): Promise<undefined> {}
  leave(): void {}

  positionOf(): WaitingPosition | undefined {
    return undefined
  }

  /** Nobody else can hold a session, so there is nothing to wait for. */
  async waitFor(): Promise<void> {
    throw busy()
  }

  announce(): void {}
  onChanged(): void {}
  readAhead(): undefined {}

  async isRunning(): Promise<boolean> {
    return false
  }

  async stopTurn(): Promise<boolean> {
    return false
  }

  async stopDeleted(): Promise<void> {}
  async follow(): Promise<undefined> {}
  async takeOver(): Promise<void> {}

  start(): Promise<void> {
    return this.#recover()
  }

  async close(): Promise<void> {}
}
