import './audit.css'
import { useState } from 'react'
import { useAgentSearch } from '../../queries/agents.ts'
import { useAudit } from '../../queries/audit.ts'
import { Card } from '../../ui/card.tsx'
import { ComboBox } from '../../ui/combo-box.tsx'
import { DateRange, type Days, lastDays, toTimes } from '../../ui/date-range.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { EntryTable } from './entry-table.tsx'
import { useAuditTexts } from './texts.ts'

const DAYS = 30

interface Filter {
  days: Days
  agentId: string | undefined
}

/** The audit log: what was changed, and with which key. */
export default function Audit() {
  const texts = useAuditTexts()
  const [filter, setFilter] = useState<Filter>({ days: lastDays(DAYS), agentId: undefined })
  const { days, agentId } = filter
  const { entries, total, isPending, error, refetch, more } = useAudit({
    ...toTimes(days),
    ...(agentId !== undefined && { agentId }),
  })
  return (
    <Page title={texts.title} description={texts.description} width="wide">
      <div className="audit-filter">
        <DateRange label={texts.days} value={days} onChange={(next) => setFilter({ ...filter, days: next })} />
        <AgentFilter onChange={(next) => setFilter((now) => ({ ...now, agentId: next }))} />
      </div>
      <Card isFlush>
        {error !== null && entries.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={8} />
        ) : (
          <EntryTable entries={entries} />
        )}
        {total !== undefined && total > 0 && <LoadMore {...more} />}
      </Card>
    </Page>
  )
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Filters by an agent's name, or by the id of a deleted agent. */
function AgentFilter({ onChange }: { onChange(agentId: string | undefined): void }) {
  const texts = useAuditTexts()
  const [text, setText] = useState('')
  const { found } = useAgentSearch(text)
  const change = (value: string) => {
    const picked = found.find(({ id, name }) => id === value || name === value)
    setText(picked?.name ?? value)
    onChange(picked?.id ?? (UUID.test(value.trim()) ? value.trim().toLowerCase() : undefined))
  }
  return (
    <ComboBox
      label={texts.agent}
      placeholder={texts.allAgents}
      value={text}
      onChange={change}
      options={found.map(({ id, name }) => ({ id, label: name }))}
    />
  )
}
