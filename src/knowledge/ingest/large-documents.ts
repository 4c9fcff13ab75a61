import type { Task } from '../../store/knowledge/tasks.ts'
import type { Language } from '../../text/analyse.ts'
import { FairRoom, type FairRoomParts } from './fair-room.ts'
import { heldCharsOf } from './passage-list.ts'
import type { DocumentReading } from './read-documents.ts'

/** A document that does not fit into one transaction, and how much of it is indexed. */
export interface LargeDocument {
  reading: DocumentReading
  /** Characters of its text and headings in memory. */
  chars: number
  /** Other documents of the agent come first in its next turn. */
  isToWait: boolean
  /** Id of its first passage, 0 before the first transaction. The ids of the others follow. */
  first: number
  /** The number of passages that are indexed. */
  done: number
  /** Detected with the first transaction. */
  languages?: Language[]
  /** How many of its `same` passages have their vectors. */
  adopted: number
}

/**
 * Large documents while they are indexed, at most one per agent. Indexing one takes several turns of its agent, and it stays in memory until then. If there is
 * no room, agents wait, and their documents are read again later.
 */
export class LargeDocuments {
  readonly #begun = new Map<string, LargeDocument>()
  /** Waiting documents, by agent and document number. */
  readonly #waiting = new Map<string, Map<number, { revision: number; chars: number }>>()
  readonly #room: FairRoom

  /** `room`: in characters. `wake` is called with an agent for whose first waiting document there is room. */
  constructor(room: Omit<FairRoomParts, 'held'>) {
    this.#room = new FairRoom({ ...room, held: () => this.#begun.entries().map(([agentId, { chars }]) => [agentId, chars]) })
  }

  of(agentId: string): LargeDocument | undefined {
    return this.#begun.get(agentId)
  }

  isWaiting(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  /** Returns undefined if the document must wait. */
  begin(agentId: string, reading: DocumentReading): LargeDocument | undefined {
    const { number, revision } = reading.task
    const chars = heldCharsOf(reading.passages)
    const waiting = this.#waiting.get(agentId) ?? new Map<number, { revision: number; chars: number }>()
    if (this.#begun.has(agentId) || !this.#room.mayEnter(agentId, chars)) {
      this.#waiting.set(agentId, waiting.set(number, { revision, chars }))
      this.#waitForFirst(agentId)
      return undefined
    }
    const document = { reading, chars, isToWait: false, first: 0, done: 0, adopted: 0 }
    this.#begun.set(agentId, document)
    // Other agents come before the next document of this agent.
    if (waiting.delete(number)) {
      this.#room.leave(agentId)
      this.#waitForFirst(agentId)
    }
    this.#room.wake()
    return document
  }

  /** To be called when the document of the agent is indexed or failed. */
  end(agentId: string): void {
    if (this.#begun.delete(agentId)) this.#room.wake()
  }

  /** Forgets all documents of the agent. */
  leave(agentId: string): void {
    this.#waiting.delete(agentId)
    this.#begun.delete(agentId)
    this.#room.leave(agentId)
    this.#room.wake()
  }

  /** Returns the documents that can be indexed now, without the large one in progress. `listed`: all waiting documents of the agent. */
  ready(agentId: string, listed: Task[]): Task[] {
    const waiting = this.#waiting.get(agentId)
    const begun = this.#begun.get(agentId)?.reading.task.number
    if (waiting === undefined) return begun === undefined ? listed : listed.filter(({ number }) => number !== begun)
    const revisions = new Map(listed.map(({ number, revision }) => [number, revision]))
    // These documents were removed or changed.
    for (const [number, { revision }] of waiting) if (revisions.get(number) !== revision) waiting.delete(number)
    this.#waitForFirst(agentId)
    if (waiting.size === 0) this.#room.wake()
    const [first] = waiting
    const mayEnter = first !== undefined && begun === undefined && this.#room.mayEnter(agentId, first[1].chars)
    const next = mayEnter ? first[0] : undefined
    return listed.filter(({ number }) => number === next || (number !== begun && !waiting.has(number)))
  }

  #waitForFirst(agentId: string): void {
    const [first] = this.#waiting.get(agentId)?.values() ?? []
    if (first !== undefined) this.#room.wait(agentId, first.chars)
    else {
      this.#waiting.delete(agentId)
      this.#room.leave(agentId)
    }
  }
}
