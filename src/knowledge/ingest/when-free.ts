import { setTimeout as pauseMs } from 'node:timers/promises'
import { BaseBusy } from '../../store/knowledge/base.ts'

/** A base that another process is changing is tried again after so long. */
export const BUSY_MS = 50
/** After so long, the caller gets `BaseBusy`. */
export const MOST_BUSY_MS = 10_000

/** Runs it again while another process is changing the base; other agents are served in between. Throws `BaseBusy` after `MOST_BUSY_MS`, and at once when `isOver`. */
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
