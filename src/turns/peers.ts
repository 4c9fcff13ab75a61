import { busy } from '../core/errors.ts'
import type { Ids } from '../core/ports/ports.ts'
import type { Session } from '../core/session.ts'
import type { WaitingPosition } from '../store/tables/processes/send-queue.ts'
import type { Turn } from './turn.ts'
import type { TurnQueue, Turns } from './turns.ts'

/** A message to the other processes: drop the caches of agents, keys and webhooks, or stop the turns of a deleted agent. */
export type Announcement = { changed: true } | { stopAgent: string }

/** A turn that another process runs. `text` resolves when the text is complete. */
export interface FollowedTurn {
  turn: Turn
  text: Promise<void>
}

/** The other processes that use the same database. `Replicas` implements it for several processes, `NoPeers` for a single one. */
export interface Peers extends TurnQueue {
  /** Returns an id that identifies its process. */
  ownId(): string
  announce(announcement: Announcement): void
  /** Calls back whenever agents, keys or webhooks were changed, here or elsewhere. */
  onChanged(callback: () => void): void
  /** Returns a function that reads the session and drops outdated caches, in one round trip. Undefined if there is no other process. */
  readAhead(agentId: string, sessionId: string): (() => Promise<Session | undefined>) | undefined
  /** Resolves to true if another process runs a turn in the session. */
  isRunning(session: Session): Promise<boolean>
  /** Stops the turn that another process runs for the `seq`-th message of a session. Resolves to false if there is none. */
  stopTurn(session: Session, seq: number): Promise<boolean>
  /** Stops the turn that another process runs in a session that was deleted. */
  stopDeleted(agentId: string, lease: string): Promise<void>
  /** Resolves to the turn that another process runs in a session, or undefined. Its text grows while any caller wants it. */
  follow(session: Session, isWanted: () => boolean): Promise<FollowedTurn | undefined>
  /** Runs work that another process may have left unfinished. */
  takeOver(work: () => Promise<void>): Promise<void>
  start(turns: Turns): Promise<void>
  /** Removes this process, which is about to end. */
  close(): Promise<void>
}

/** The only process that uses its database. */
export class NoPeers implements Peers {
  readonly #newId: Ids
  readonly #recover: () => Promise<void>

  /** `recover` ends the turns that earlier processes left open. */
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

  /** Throws `session_busy`, since no other process can lease a session. */
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
