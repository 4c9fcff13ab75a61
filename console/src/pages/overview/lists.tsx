import { Link } from 'wouter'
import type { Agent, AgentWithStats } from '../../queries/agents.ts'
import { useRecentSessions } from '../../queries/sessions.ts'
import { useRights } from '../../session/session.tsx'
import { homeOf } from '../../shell/navigation.tsx'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Tile } from '../../ui/tile.tsx'
import { nameOf } from '../parts/session-name.ts'
import { useOverviewTexts } from './texts.ts'

const MOST = 5

export function NewestAgents({ agents, isLoading }: { agents: readonly AgentWithStats[]; isLoading: boolean }) {
  const texts = useOverviewTexts()
  const rights = useRights()
  const format = useFormat()
  const all = (
    <LinkButton href="/agents" look="quiet" size="small">
      {texts.all}
    </LinkButton>
  )
  return (
    <Card title={texts.newest} actions={all} isFlush>
      {isLoading ? (
        <SkeletonRows rows={MOST} />
      ) : agents.length === 0 ? (
        <EmptyState
          icon="agents"
          title={texts.noAgents}
          {...(rights.can('admin') && {
            actions: (
              <LinkButton href="/agents/new" look="primary" icon="plus">
                {texts.create}
              </LinkButton>
            ),
          })}
        >
          {texts.noAgentsText}
        </EmptyState>
      ) : (
        <ul className="overview-rows">
          {agents.map((agent) => (
            <li key={agent.id}>
              <Link href={homeOf(agent.id, rights)} className="overview-row">
                <Tile name={agent.name} />
                <span className="overview-main clip as-written">{agent.name}</span>
                <span className="overview-side numbers">
                  {texts.documents}: {format.compact(agent.stats.documents)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

export function RecentSessions({ agents, isLoading }: { agents: readonly Agent[]; isLoading: boolean }) {
  const texts = useOverviewTexts()
  const format = useFormat()
  const { sessions, isPending, error } = useRecentSessions(agents, MOST)
  return (
    <Card title={texts.recent} isFlush>
      {isLoading || isPending ? (
        <SkeletonRows rows={MOST} />
      ) : error ? (
        <div className="card-body">
          <ErrorNote error={error} />
        </div>
      ) : sessions.length === 0 ? (
        <EmptyState icon="conversations" title={texts.noSessions}>
          {texts.noSessionsText}
        </EmptyState>
      ) : (
        <ul className="overview-rows">
          {sessions.map(({ id, agent, name, totalMessages, lastMessageAt }) => (
            <li key={id}>
              <Link href={`/agents/${agent.id}/conversations/${id}`} className="overview-row">
                <Tile name={agent.name} />
                <span className="overview-main">
                  <span className="clip as-written">{nameOf(name, format)}</span>
                  <span className="overview-sub clip as-written">
                    {agent.name} · {texts.messageCount(format.number(totalMessages))}
                  </span>
                </span>
                <time className="overview-side" dateTime={lastMessageAt}>
                  {format.ago(lastMessageAt)}
                </time>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
