import { setTimeout as pause } from 'node:timers/promises'
import { InTurn } from './in-turn.ts'

const SLICE_MS = 2

const waiting = new InTurn<() => void>()

/**
 * Resolves when a slice of long work may be done. Of all long work of a thread, one slice is done in each round of the event loop, so that other events take
 * their turn in between, however much long work there is. Owners, such as agents or callers, take turns.
 */
export function nextSlice(owner: string): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.isEmpty) setImmediate(letNextGo)
    waiting.add(owner, resolve)
  })
}

function letNextGo(): void {
  waiting.next()!()
  if (!waiting.isEmpty) setImmediate(letNextGo)
}

/** For work in a loop: call it before each step, and await what it returns. A slice ends when 2 ms have gone by. `owner` as in `nextSlice`. */
export function pacer(owner: string): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < SLICE_MS) return undefined
    return nextSlice(owner).then(() => {
      last = performance.now()
    })
  }
}

/** Does a slice of long work that another thread or a database does, and leaves others as much time behind it. Resolves to what the work resolves to. */
export async function thenRest<T>(work: () => Promise<T>): Promise<T> {
  const begunAt = performance.now()
  const result = await work()
  await pause(performance.now() - begunAt)
  return result
}
