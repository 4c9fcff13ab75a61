import { setTimeout as pause } from 'node:timers/promises'
import { InTurn } from './in-turn.ts'

const SLICE_MS = 2

const waiting = new InTurn<() => void>()

/**
 * Resolves when a slice of long work may run. Each round of the event loop runs one slice per thread, so that other events run in between.
 * Owners, such as agents or callers, take turns.
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

/** Returns a function for loops: call it before each step, and await its result. A slice ends after 2 ms. `owner` as in `nextSlice`. */
export function pacer(owner: string): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < SLICE_MS) return undefined
    return nextSlice(owner).then(() => {
      last = performance.now()
    })
  }
}

/** Runs a slice of long work in another thread or a database, then pauses for the same time. Resolves to the result of the work. */
export async function thenRest<T>(work: () => Promise<T>): Promise<T> {
  const begunAt = performance.now()
  const result = await work()
  await pause(performance.now() - begunAt)
  return result
}
