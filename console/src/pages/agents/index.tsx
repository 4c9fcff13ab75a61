import './agents.css'
import { useState } from 'react'
import { type Agent, useAgentSearch, useAgents } from '../../queries/agents.ts'
import { useRights } from '../../session/session.tsx'
import { homeOf } from '../../shell/navigation.tsx'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { useCopy } from '../../ui/copy.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { SearchField } from '../../ui/field.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Tile } from '../../ui/tile.tsx'
import { DeleteAgent } from './delete-agent.tsx'
import { useAgentTexts } from './texts.ts'

/** All agents that the key can see. */
export default function AgentsPage() {
  const texts = useAgentTexts().list
  const rights = useRights()
  const { agents, total, isPending, error, refetch, more } = useAgents()
  const [text, setText] = useState('')
  const { found, isLoading } = useAgentSearch(text)
  const create = rights.can('admin') && (
    <LinkButton href="/agents/new" look="primary" icon="plus">
      {texts.create}
    </LinkButton>
  )
  const isEmpty = total === 0
  const isSearching = text.trim() !== ''
  return (
    <Page title={texts.title} description={texts.description} {...(create && { actions: create })}>
      {!isEmpty && (
        <div className="agents-search">
          <SearchField label={texts.search} value={text} onChange={setText} />
        </div>
      )}
      <Card isFlush>
        {error !== null && agents.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending || (isSearching && isLoading && found.length === 0) ? (
          <SkeletonRows rows={6} />
        ) : isEmpty ? (
          <EmptyState icon="agents" title={texts.empty} {...(create && { actions: create })}>
            {rights.can('admin') ? texts.emptyText : texts.emptyOther}
          </EmptyState>
        ) : (
          <AgentTable agents={isSearching ? found : agents} />
        )}
        {!isSearching && !isEmpty && total !== undefined && <LoadMore {...more} />}
      </Card>
    </Page>
  )
}

function AgentTable({ agents }: { agents: readonly Agent[] }) {
  const texts = useAgentTexts().list
  const format = useFormat()
  const rights = useRights()
  const copy = useCopy()
  const [deleting, setDeleting] = useState<Agent>()
  const columns: Column<Agent>[] = [
    {
      id: 'name',
      label: texts.name,
      cell: ({ name }) => (
        <span className="agents-name">
          <Tile name={name} />
          <span className="as-written">{name}</span>
        </span>
      ),
    },
    {
      id: 'model',
      label: texts.model,
      width: '32%',
      cell: ({ model }) => <span className="mono muted as-written">{model}</span>,
    },
    {
      id: 'updated',
      label: texts.updated,
      width: '10rem',
      cell: ({ updatedAt }) => (
        <time dateTime={updatedAt} title={format.time(updatedAt)} className="muted">
          {format.ago(updatedAt)}
        </time>
      ),
    },
  ]
  return (
    <>
      <Table
        label={texts.title}
        columns={columns}
        rows={agents}
        idOf={({ id }) => id}
        nameOf={({ name }) => name}
        hrefOf={({ id }) => homeOf(id, rights)}
        empty={
          <EmptyState icon="search" title={texts.noneFits}>
            {texts.noneFitsText}
          </EmptyState>
        }
        actionsOf={(agent) => (
          <MoreMenu label={texts.actionsOf(agent.name)}>
            {rights.can('admin') && (
              <MenuItem icon="setup" href={`/agents/${agent.id}`}>
                {texts.setup}
              </MenuItem>
            )}
            {rights.can('knowledge') && (
              <MenuItem icon="knowledge" href={`/agents/${agent.id}/knowledge`}>
                {texts.knowledge}
              </MenuItem>
            )}
            {rights.can('chat') && (
              <MenuItem icon="playground" href={`/agents/${agent.id}/playground`}>
                {texts.playground}
              </MenuItem>
            )}
            <MenuItem icon="copy" onAction={() => void copy(agent.id)}>
              {texts.copyId}
            </MenuItem>
            {rights.can('admin') && <MenuLine />}
            {rights.can('admin') && (
              <MenuItem icon="trash" isDanger onAction={() => setDeleting(agent)}>
                {texts.delete}
              </MenuItem>
            )}
          </MoreMenu>
        )}
      />
      <DeleteAgent agent={deleting} onClose={() => setDeleting(undefined)} />
    </>
  )
}
