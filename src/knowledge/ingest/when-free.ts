import { setTimeout as pauseMs } from 'node:timers/promises'
import { BaseBusy } from '../../store/knowledge/base.ts'

/** Delay before a base that another process is changing is retried. */
export const BUSY_MS = 50
/** Time after which the caller gets `BaseBusy`. */
export const MOST_BUSY_MS = 10_000

/** Runs `work`. Retries while another process is changing the base; other agents run in between. Throws `BaseBusy` after `MOST_BUSY_MS`, or if `isOver`. */
export async function whenFree<T>(work: () => T, isOver: () => boolean): Promise<T> {
  const until = performance.now() + MOST_BUSY_MS
  for (;;) {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof BaseBusy) || isOver() || performance.now() > until) throw error
    }
    await pauseMs(BUSY_MS)
  }
}
