export interface ReadingRoomParts {
  /** Bytes of documents that are being read. */
  bytes: () => number
  /** Returns the agent whose turn is next. */
  next: (agentIds: Iterable<string>) => string | undefined
  /** There may be room for a document of the agent. */
  wake: (agentId: string) => void
}

/** Of documents in memory that are being read. One that is larger is read alone. */
const MOST_BYTES = 67_108_864
/** Documents up to this size find room always. */
const SMALL_BYTES = 1_048_576

/** Limits how much of large documents is in memory while they are being read. Agents that find no room wait, and get it in turn. */
export class ReadingRoom {
  readonly #parts: ReadingRoomParts
  readonly #waiting = new Set<string>()

  constructor(parts: ReadingRoomParts) {
    this.#parts = parts
  }

  /** Returns true if a document may be read now. Otherwise the agent waits. */
  enter(agentId: string, bytes: number): boolean {
    if (bytes <= SMALL_BYTES) return true
    this.#waiting.add(agentId)
    const hasEntered = this.#hasRoom(bytes) && this.#parts.next(this.#waiting) === agentId
    if (hasEntered) this.#waiting.delete(agentId)
    return hasEntered
  }

  isWaiting(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  /** The agent waits no longer, and the next may have its turn. */
  leave(agentId: string): void {
    this.#waiting.delete(agentId)
    this.wake()
  }

  /** To be called when there may be more room. */
  wake(): void {
    const next = this.#parts.next(this.#waiting)
    if (next !== undefined) this.#parts.wake(next)
  }

  #hasRoom(bytes: number): boolean {
    const held = this.#parts.bytes()
    return held === 0 || held + bytes <= MOST_BYTES
  }
}
