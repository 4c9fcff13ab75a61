import './overview.css'
import { useEffect, useState } from 'react'
import { type AgentWithStats, useAgents, useAgentsWithStats } from '../../queries/agents.ts'
import { useHealth, version } from '../../queries/health.ts'
import { keep, kept } from '../../session/preferences.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { FirstSteps, isStarted } from './first-steps.tsx'
import { NewestAgents, RecentSessions } from './lists.tsx'
import { useOverviewTexts } from './texts.ts'

/** Number of agents whose statistics are loaded. */
const LOOKED_AT = 5

/** Overview: the agents, the state of the service, and the next steps. */
export default function OverviewPage() {
  const texts = useOverviewTexts()
  const rights = useRights()
  const { agents, total, isPending, error, refetch } = useAgents()
  const newest = agents.slice(0, LOOKED_AT)
  const looked = useAgentsWithStats(newest.map(({ id }) => id))
  const isLoading = isPending || looked.isPending
  const again = () => {
    void refetch()
    looked.refetch()
  }
  const [isHidden, setHidden] = useState(kept('first-steps') === 'hidden')
  const isComplete = !isLoading && isStarted(looked.agents)
  // Store that all steps are done: the next visit then reserves no space for them, so that the layout does not shift.
  useEffect(() => {
    if (isComplete) keep('first-steps', 'hidden')
  }, [isComplete])
  const hide = () => {
    setHidden(true)
    keep('first-steps', 'hidden')
  }
  const create = rights.can('admin') && total !== 0 && (
    <LinkButton href="/agents/new" icon="plus">
      {texts.create}
    </LinkButton>
  )
  // An agent that was deleted in the meantime is not an error of the page.
  const failure = agents.length === 0 ? error : looked.agents.length === 0 ? looked.error : null
  if (failure !== null)
    return (
      <Page title={texts.title}>
        <ErrorNote error={failure} onRetry={again} />
      </Page>
    )
  return (
    <Page title={texts.title} description={texts.description} {...(create && { actions: create })}>
      {rights.can('admin') && !isHidden && !isComplete && (
        <FirstSteps agents={looked.agents} isLoading={isLoading} onHide={hide} />
      )}
      <Figures agents={looked.agents} total={total} isLoading={isLoading} />
      <div className="overview-lists">
        <NewestAgents agents={looked.agents} isLoading={isLoading} />
        {rights.can('read') && <RecentSessions agents={newest} isLoading={isPending} />}
      </div>
    </Page>
  )
}

function Figures({
  agents,
  total,
  isLoading,
}: {
  agents: readonly AgentWithStats[]
  total: number | undefined
  isLoading: boolean
}) {
  const texts = useOverviewTexts()
  const format = useFormat()
  const health = useHealth()
  const sum = (of: (stats: AgentWithStats['stats']) => number) =>
    format.number(agents.reduce((all, { stats }) => all + of(stats), 0))
  const part =
    total !== undefined && total > agents.length && !isLoading ? texts.ofNewest(format.number(agents.length)) : undefined
  const state = health.isPending ? undefined : health.isError ? 'unknown' : health.data
  const figures = [
    { label: texts.agentTotal, value: total === undefined ? undefined : format.number(total) },
    { label: texts.documents, value: isLoading ? undefined : sum(({ documents }) => documents), note: part },
    { label: texts.conversations, value: isLoading ? undefined : sum(({ sessions }) => sessions), note: part },
    {
      label: texts.service,
      value: state && <Status tone={state === 'ready' ? 'good' : 'bad'}>{texts[state]}</Status>,
      note: `${texts.version} ${version}`,
    },
  ]
  return (
    <dl className="figures">
      {figures.map(({ label, value, note }) => (
        <div key={label} className="figure">
          <dt>{label}</dt>
          <dd className="figure-value numbers">{value ?? <Skeleton width={4} />}</dd>
          {note !== undefined && <dd className="figure-note">{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
