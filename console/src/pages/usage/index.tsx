import './usage.css'
import { useAgents } from '../../queries/agents.ts'
import { useKeys } from '../../queries/keys.ts'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { KeyBudget } from '../keys/key-budget.tsx'
import { AgentBudgets } from './agent-budgets.tsx'
import { useUsageTexts } from './texts.ts'

const nextMidnight = () => new Date().setUTCHours(24, 0, 0, 0)

/** Budgets, and their usage today. */
export default function Usage() {
  const texts = useUsageTexts()
  const format = useFormat()
  const { isPending: noAgents } = useAgents()
  const { isPending: noKeys } = useKeys()
  // Each section is shown when the sections above it have their size, so that nothing shifts down.
  return (
    <Page title={texts.title} description={`${texts.description} ${texts.resets(format.ago(nextMidnight()))}`}>
      <AgentBudgets />
      {!noAgents && <KeyBudgets />}
      {!noAgents && !noKeys && (
        <Card title={texts.rules}>
          <ul className="usage-rules">
            {texts.ruleList.map((rule) => (
              <li key={rule}>{rule}</li>
            ))}
          </ul>
        </Card>
      )}
    </Page>
  )
}

function KeyBudgets() {
  const texts = useUsageTexts()
  const { keys, isPending, error, refetch, more } = useKeys()
  const limited = keys.filter(({ budget }) => budget !== undefined)
  const toKeys = <LinkButton href="/keys">{texts.toKeys}</LinkButton>
  return (
    <Card title={texts.keys} description={texts.keysText} isFlush>
      {error !== null && keys.length === 0 ? (
        <div className="card-body">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <Table
          label={texts.keys}
          columns={[
            { id: 'name', label: texts.key, cell: ({ name }) => <span className="as-written">{name}</span> },
            { id: 'today', label: texts.today, width: '50%', cell: (key) => <KeyBudget of={key} /> },
          ]}
          rows={limited}
          idOf={({ id }) => id}
          nameOf={({ name }) => name}
          empty={
            <EmptyState icon="keys" title={texts.noKeys} actions={toKeys}>
              {texts.noKeysText}
            </EmptyState>
          }
        />
      )}
      {more.hasMore && <LoadMore {...more} />}
    </Card>
  )
}
