import { type Agent, useAgents } from '../../queries/agents.ts'
import { hasBudget, useAgentUsage } from '../../queries/usage.ts'
import { useFormat } from '../../texts/format.ts'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tile } from '../../ui/tile.tsx'
import { BudgetCell } from '../parts/budget-meters.tsx'
import { useUsageTexts } from './texts.ts'

const isLimited = (agent: Agent) => hasBudget(agent) || agent.budget.tokensPerUserPerDay !== null

/** The budgets of the agents; agents with limits come first. */
export function AgentBudgets() {
  const texts = useUsageTexts()
  const format = useFormat()
  const { agents, isPending, error, refetch, more } = useAgents()
  const rows = [...agents.filter(isLimited), ...agents.filter((agent) => !isLimited(agent))]
  const columns: Column<Agent>[] = [
    {
      id: 'name',
      label: texts.agent,
      cell: ({ name }) => (
        <span className="usage-name">
          <Tile name={name} />
          <span className="as-written">{name}</span>
        </span>
      ),
    },
    { id: 'today', label: texts.today, width: '36%', cell: (agent) => <AgentBudget of={agent} /> },
    {
      id: 'user',
      label: texts.perUser,
      width: '20%',
      cell: ({ budget: { tokensPerUserPerDay } }) => (
        <span className="muted">
          {tokensPerUserPerDay === null ? texts.noLimit : texts.tokens(format.number(tokensPerUserPerDay))}
        </span>
      ),
    },
  ]
  return (
    <Card title={texts.agents} description={texts.agentsText} isFlush>
      {error !== null && agents.length === 0 ? (
        <div className="card-body">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending ? (
        <SkeletonRows rows={3} />
      ) : (
        <Table
          label={texts.agents}
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          nameOf={({ name }) => name}
          hrefOf={({ id }) => `/agents/${id}`}
          empty={
            <EmptyState icon="agents" title={texts.noAgents}>
              {texts.noAgentsText}
            </EmptyState>
          }
        />
      )}
      {more.hasMore && <LoadMore {...more} />}
    </Card>
  )
}

const AgentBudget = ({ of }: { of: Agent }) => (
  <BudgetCell budget={hasBudget(of) ? of.budget : undefined} usage={useAgentUsage(of)} of={of.name} />
)
