import { failLapsedTurns, renewLeases } from '../store/turns.ts'
import type { Deps } from './deps.ts'
import { forgetOldAnswers } from './keep-answer.ts'

const FORGET_EVERY_MS = 600_000

/** What must be done again and again while the service runs: says which turns still run, settles those whose process died, forgets what was kept long enough. */
export function startUpkeep(deps: Deps): { stop(): void } {
  const leases = setInterval(
    () => deps.background.runOnce('leases', 'leases could not be renewed', () => keepLeases(deps)),
    deps.limits.leaseMs / 3,
  )
  const answers = setInterval(
    () => deps.background.runOnce('answers', 'kept answers could not be forgotten', () => forgetOldAnswers(deps)),
    FORGET_EVERY_MS,
  )
  return {
    stop() {
      clearInterval(leases)
      clearInterval(answers)
    },
  }
}

async function keepLeases(deps: Deps): Promise<void> {
  const now = deps.clock()
  const { leaseMs } = deps.limits
  // Most turns end before their lease is a third over, and cost nothing here.
  await renewLeases(deps.db, deps.turns.leasesOlderThan(now - leaseMs / 4), now + leaseMs)
  const failed = await failLapsedTurns(deps.db, now, deps.newId())
  if (failed > 0) deps.warn(`${failed} turns were left by whoever ran them, and are marked as failed`)
}
