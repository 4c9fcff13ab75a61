import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE_MS = 2

/** For work in a loop: call it before each step, and await what it returns. Lets other events in whenever 2 ms have gone by. */
export function pacer(): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < SLICE_MS) return undefined
    return nextTurn().then(() => {
      last = performance.now()
    })
  }
}
