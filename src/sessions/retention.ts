import type { Agent } from '../core/agent.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import { DAY_MS } from '../core/time.ts'
import { findAgent, listAgents } from '../store/tables/agents.ts'
import { listOldestSessions } from '../store/tables/sessions.ts'
import type { SessionDeps } from './deps.ts'
import { deleteIfThere } from './sessions.ts'

/** The owner name for slices. */
const RETENTION = 'retention'
const AGENTS_AT_ONCE = 100
const SESSIONS_AT_ONCE = 50

/** Deletes sessions whose last activity is older than the agent's retention, one by one, with `deleteSession`. */
export async function deleteOldSessions(deps: SessionDeps): Promise<void> {
  let last: Agent | undefined
  for (;;) {
    const agents = await listAgents(deps.db, null, last, AGENTS_AT_ONCE)
    for (const { id, retentionDays } of agents) if (retentionDays !== null) await deleteOf(deps, id)
    last = agents.at(-1)
    if (last === undefined) return
    await nextSlice(RETENTION)
  }
}

/** Deleting thousands of sessions takes minutes, so each deletion checks again for new messages and changed settings. */
async function deleteOf(deps: SessionDeps, agentId: string): Promise<void> {
  for (;;) {
    const agent = await findAgent(deps.db, agentId)
    if (agent === undefined || agent.retentionDays === null) return
    const unusedSince = deps.clock() - agent.retentionDays * DAY_MS
    const sessions = await listOldestSessions(deps.db, agentId, unusedSince, SESSIONS_AT_ONCE)
    for (const session of sessions) await deleteIfThere(deps, session, { unusedSince, agentUpdatedAt: agent.updatedAt })
    if (sessions.length < SESSIONS_AT_ONCE) return
  }
}
