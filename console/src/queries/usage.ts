import { useQuery } from '@tanstack/react-query'
import { useClient } from '../session/session.tsx'
import type { Agent } from './agents.ts'
import { keyOf } from './client.ts'

/** Whether an agent has a budget as a whole. Budgets per user are counted separately. */
export const hasBudget = ({ budget }: Agent) => budget.tokensPerDay !== null || budget.costPerDay !== null

/** The usage of an agent's budget today; null if the agent has no budget. */
export function useAgentUsage(agent: Agent) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agent.id, 'usage'),
    queryFn: async ({ signal }) => (await client.agents.usage({ agentId: agent.id }, { signal })).usage,
    enabled: hasBudget(agent),
  })
}
