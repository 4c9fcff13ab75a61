import type { Agent } from '../core/agent.ts'
import type { Retrieval, Suggestion } from '../core/retrieval.ts'
import type { Deps } from './deps.ts'

/** The reply is stored already; a caller should not wait long for what only goes with it. */
const LIMIT_MS = 1_000

/** Questions to go on with, each of which the knowledge base can answer. Undefined where the agent offers none; empty where finding them failed. */
export async function suggestFollowUps(
  deps: Deps,
  agent: Agent,
  asked: string[],
  retrieval: Retrieval,
): Promise<(Suggestion & { id: string })[] | undefined> {
  const { enabled, count } = agent.followUps
  if (!enabled) return undefined
  if (retrieval.hits.length === 0) return []
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Suggestion[]>((resolve) => {
    timer = setTimeout(() => resolve([]), LIMIT_MS)
  })
  try {
    const found = deps.knowledge.suggest(agent.id, { asked, retrieval, count, filter: agent.retrieval.filter })
    return (await Promise.race([found, late])).map((s) => ({ id: deps.newId(), ...s }))
  } catch (error) {
    deps.warn('no follow-ups could be found', error)
    return []
  } finally {
    clearTimeout(timer)
  }
}
