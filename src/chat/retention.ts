import type { Agent } from '../core/agent.ts'
import { nextSlice } from '../core/pacer.ts'
import { DAY_MS } from '../core/time.ts'
import { listAgents } from '../store/agents.ts'
import { listOldestSessions } from '../store/sessions.ts'
import type { Deps } from './deps.ts'
import { deleteIfThere } from './sessions.ts'

/** The owner of the slices. */
const RETENTION = 'retention'
const AGENTS_AT_ONCE = 100
const SESSIONS_AT_ONCE = 50

/** Deletes what agents keep no longer: sessions without activity for so many days, as by `deleteSession`, one by one. */
export async function deleteOldSessions(deps: Deps): Promise<void> {
  let last: Agent | undefined
  for (;;) {
    const agents = await listAgents(deps.db, null, last, AGENTS_AT_ONCE)
    for (const { id, retentionDays } of agents)
      if (retentionDays !== null) await deleteOf(deps, id, deps.clock() - retentionDays * DAY_MS)
    last = agents.at(-1)
    if (last === undefined) return
    await nextSlice(RETENTION)
  }
}

async function deleteOf(deps: Deps, agentId: string, before: number): Promise<void> {
  for (;;) {
    const sessions = await listOldestSessions(deps.db, agentId, before, SESSIONS_AT_ONCE)
    for (const session of sessions) await deleteIfThere(deps, session)
    if (sessions.length < SESSIONS_AT_ONCE) return
  }
}
