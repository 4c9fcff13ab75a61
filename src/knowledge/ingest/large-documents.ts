import type { Task } from '../../store/knowledge-tasks.ts'
import type { Reading } from './read-documents.ts'

/** A document that does not fit into one transaction, and how much of it is indexed. */
export interface LargeDocument {
  reading: Reading
  /** Characters of its text and headings. */
  chars: number
  /** Id of its first passage, 0 before the first transaction. The ids of the others follow. */
  first: number
  /** The number of passages that are indexed. */
  done: number
  /** How many of its `same` passages have their vectors. */
  adopted: number
  /** It is indexed in one turn, however long that takes. */
  isWhole: boolean
}

export interface LargeLimits {
  /** Characters of all documents in memory. */
  heldChars: number
  /** A document of up to so many characters never waits: where memory is short it is indexed in one turn. */
  shortChars: number
}

/**
 * Large documents while they are indexed, at most one per agent. Indexing one takes several turns of its agent, and it stays in memory until then. If memory is
 * short, agents wait in line, and their documents are read again later.
 */
export class LargeDocuments {
  readonly #limits: LargeLimits
  readonly #begun = new Map<string, LargeDocument>()
  /** By agent: its documents that wait, by their numbers. */
  readonly #waiting = new Map<string, Map<number, { revision: number; chars: number }>>()
  readonly #mayBegin: (agentId: string) => void

  /** `mayBegin` is called with a waiting agent when there is room for its document. */
  constructor(limits: LargeLimits, mayBegin: (agentId: string) => void) {
    this.#limits = limits
    this.#mayBegin = mayBegin
  }

  of(agentId: string): LargeDocument | undefined {
    return this.#begun.get(agentId)
  }

  isWaiting(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  /** Undefined where it must wait. */
  begin(agentId: string, reading: Reading): LargeDocument | undefined {
    const { number, revision } = reading.task
    const chars = lengthOf(reading)
    const hasRoom = this.#hasRoom(agentId, chars)
    const waiting = this.#waiting.get(agentId) ?? new Map<number, { revision: number; chars: number }>()
    if (!hasRoom && chars > this.#limits.shortChars) {
      this.#waiting.set(agentId, waiting.set(number, { revision, chars }))
      return undefined
    }
    const document = { reading, chars, first: 0, done: 0, adopted: 0, isWhole: !hasRoom }
    this.#begun.set(agentId, document)
    if (waiting.delete(number)) {
      // Other agents come before the next document of this agent.
      this.#waiting.delete(agentId)
      if (waiting.size > 0) this.#waiting.set(agentId, waiting)
    }
    this.#wake()
    return document
  }

  /** To be called when the document of the agent is indexed or failed. */
  end(agentId: string): void {
    if (this.#begun.delete(agentId)) this.#wake()
  }

  /** Forgets all documents of the agent. */
  leave(agentId: string): void {
    this.#waiting.delete(agentId)
    this.#begun.delete(agentId)
    this.#wake()
  }

  /** Returns the documents that can be indexed now. `listed`: all that the agent has waiting. */
  ready(agentId: string, listed: Task[]): Task[] {
    const waiting = this.#waiting.get(agentId)
    if (waiting === undefined) return listed
    const revisions = new Map(listed.map(({ number, revision }) => [number, revision]))
    // Those were removed or changed.
    for (const [number, { revision }] of waiting) if (revisions.get(number) !== revision) waiting.delete(number)
    const [first] = waiting
    if (first === undefined) {
      this.#waiting.delete(agentId)
      this.#wake()
      return listed
    }
    const next = this.#hasRoom(agentId, first[1].chars) ? first[0] : undefined
    return listed.filter(({ number }) => number === next || !waiting.has(number))
  }

  #wake(): void {
    const [first] = this.#waiting
    if (first === undefined) return
    const [agentId, waiting] = first
    const [document] = waiting.values()
    if (this.#hasRoom(agentId, document!.chars)) this.#mayBegin(agentId)
  }

  #hasRoom(agentId: string, chars: number): boolean {
    const [first = agentId] = this.#waiting.keys()
    if (first !== agentId && chars > this.#limits.shortChars) return false
    const held = this.#begun.values().reduce((sum, document) => sum + document.chars, 0)
    return held === 0 || held + chars <= this.#limits.heldChars
  }
}

export const lengthOf = ({ passages }: Reading): number =>
  passages.reduce((sum, { text, heading }) => sum + text.length + heading.length, 0)
