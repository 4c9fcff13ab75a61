import { useQuery } from '@tanstack/react-query'
import { useClient } from '../session/session.tsx'
import type { Agent } from './agents.ts'
import { keyOf } from './client.ts'

/** Whether an agent has a budget as a whole; that of each of its users is counted by user. */
export const hasBudget = ({ budget }: Agent) => budget.tokensPerDay !== null || budget.costPerDay !== null

/** What was used today of the budget of an agent; null where it has none. */
export function useAgentUsage(agent: Agent) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agent.id, 'usage'),
    queryFn: async ({ signal }) => (await client.agents.usage(agent.id, undefined, { signal })).usage,
    enabled: hasBudget(agent),
  })
}
