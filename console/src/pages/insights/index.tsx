import './insights.css'
import { useAgentName } from '../../queries/agents.ts'
import { useInsights } from '../../queries/insights.ts'
import type { PageProps } from '../../routing/routes.tsx'
import { useRights } from '../../session/session.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { type Days, toTimes } from '../../ui/date-range.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Page } from '../../ui/page.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { Charts } from './charts.tsx'
import { Documents } from './documents.tsx'
import { daysBefore, totalsOf } from './figures.ts'
import { RangePicker, useRange } from './range.tsx'
import { useInsightTexts } from './texts.ts'
import { TotalTiles } from './totals.tsx'
import { UnansweredQuestions } from './unanswered.tsx'

/** Statistics of the conversations with an agent. */
export default function InsightsPage({ agentId }: PageProps) {
  const texts = useInsightTexts()
  const range = useRange()
  return (
    <Page title={texts.title} of={useAgentName(agentId)} description={texts.description} width="wide">
      <RangePicker {...range} />
      <Figures agentId={agentId} days={range.days} />
    </Page>
  )
}

function Figures({ agentId, days }: { agentId: string; days: Days }) {
  const texts = useInsightTexts()
  const rights = useRights()
  const before = daysBefore(days)
  const { data, error, refetch } = useInsights(agentId, toTimes(days))
  const { data: earlier } = useInsights(agentId, toTimes(before))
  if (error !== null && data === undefined) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  const isEmpty = data.days.length === 0
  const actions = rights.can('chat') && (
    <LinkButton href={`/agents/${agentId}/playground`} icon="playground">
      {texts.playground}
    </LinkButton>
  )
  return (
    <>
      {isEmpty ? (
        <Card>
          <EmptyState icon="insights" title={texts.empty} {...(actions && { actions })}>
            {texts.emptyText}
          </EmptyState>
        </Card>
      ) : (
        <>
          <TotalTiles now={totalsOf(data, days)} before={earlier && totalsOf(earlier, before)} />
          <UnansweredQuestions agentId={agentId} unanswered={data.unanswered} />
          <Charts insights={data} days={days} />
        </>
      )}
      <Documents agentId={agentId} documents={data.documents} />
    </>
  )
}

const TILES = 6

const Waiting = () => (
  <Loading>
    <div className="insights-tiles">
      {Array.from({ length: TILES }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all placeholders are equal
        <div key={i} className="insights-tile">
          <Skeleton width={9} />
          <Skeleton width={6} />
          <Skeleton width={12} />
        </div>
      ))}
    </div>
    <div className="card insights-waiting" />
  </Loading>
)
