import { dayOf } from './access/budgets.ts'
import { DAY_MS } from './core/time.ts'
import type { DocumentEvents } from './events/document-events.ts'
import type { Deps } from './http/deps.ts'
import { deleteOldSessions } from './sessions/retention.ts'
import { deleteAuditBefore } from './store/tables/audit.ts'
import { purgeMarked } from './store/tables/deletion.ts'
import { deleteDeliveriesBefore } from './store/tables/deliveries.ts'
import { deleteSpendingBefore } from './store/tables/spending.ts'
import { failLapsedTurns, renewLeases } from './store/tables/turns.ts'
import { forgetOldAnswers } from './turns/idempotency.ts'

const FORGET_EVERY_MS = 600_000
/** Deletions run at once. This interval resumes interrupted ones. */
const PURGE_EVERY_MS = 60_000

export type UpkeepDeps = Deps & { documentEvents: DocumentEvents }

/** Starts the scheduled work: renews leases, ends the turns of processes that died, deletes expired data. */
export function startUpkeep(deps: UpkeepDeps): { stop(): void } {
  const leases = setInterval(
    () => deps.background.runOnce('leases', 'leases could not be renewed', () => keepLeases(deps)),
    deps.limits.leaseMs / 3,
  )
  const forgetOld = () => deps.background.runOnce('old', 'what is old could not be deleted', () => deleteOld(deps))
  const old = setInterval(forgetOld, FORGET_EVERY_MS)
  forgetOld()
  const purge = () => deps.background.runOnce('purge', 'deleted messages could not be purged', () => purgeMarked(deps.db))
  const purges = setInterval(purge, PURGE_EVERY_MS)
  purge()
  return {
    stop() {
      clearInterval(leases)
      clearInterval(old)
      clearInterval(purges)
    },
  }
}

async function deleteOld(deps: UpkeepDeps): Promise<void> {
  await forgetOldAnswers(deps)
  // A call that began yesterday may still return a part of its reservation.
  await deleteSpendingBefore(deps.db, dayOf(deps.clock()) - 1)
  await deleteAuditBefore(deps.db, deps.clock() - deps.limits.auditDays * DAY_MS)
  await deleteDeliveriesBefore(deps.db, deps.clock() - deps.limits.webhookDays * DAY_MS)
  await deps.peers.takeOver(() => deps.documentEvents.wakeAll())
  await deleteOldSessions(deps)
}

async function keepLeases(deps: Deps): Promise<void> {
  const now = deps.clock()
  const { leaseMs } = deps.limits
  // Most turns end within a quarter of their lease, and cost nothing here.
  await renewLeases(deps.db, deps.turns.leasesOlderThan(now - leaseMs / 4), now + leaseMs)
  const settler = deps.newId()
  const failed = await failLapsedTurns(deps.db, now, settler, deps.webhooks.queueFailed(settler))
  if (failed > 0) deps.warn(`${failed} turns were left by whoever ran them, and are marked as failed`)
}
