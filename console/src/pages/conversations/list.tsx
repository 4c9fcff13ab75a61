import { useState } from 'react'
import { useAgentName } from '../../queries/agents.ts'
import { type Session, useSessions } from '../../queries/conversations.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { useCopy } from '../../ui/copy.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { DeleteSession } from './delete-session.tsx'
import { FilterBar, hrefOfUser, useFilter } from './filter.tsx'
import { ImportButton } from './import-session.tsx'
import { addressOf, hrefOf, nameOf, shortId } from './names.ts'
import { useConversationTexts } from './texts.ts'

export function ConversationList({ agentId }: { agentId: string }) {
  const texts = useConversationTexts()
  const rights = useRights()
  const { filter, isSet } = useFilter()
  const { sessions, total, isPending, isPlaceholderData, error, refetch, more } = useSessions(agentId, filter)
  const isEmpty = total === 0 && !isSet
  const actions = rights.can('chat') && <ImportButton agentId={agentId} />
  return (
    <Page
      title={texts.title}
      of={useAgentName(agentId)}
      description={texts.description}
      width="wide"
      {...(actions && { actions })}
    >
      {!isEmpty && <FilterBar />}
      <Card isFlush className={isPlaceholderData ? 'conversations-waits' : ''}>
        {error !== null && sessions.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={10} />
        ) : (
          <>
            <SessionTable agentId={agentId} sessions={sessions} />
            {total !== 0 && <LoadMore {...more} />}
          </>
        )}
      </Card>
    </Page>
  )
}

function SessionTable({ agentId, sessions }: { agentId: string; sessions: readonly Session[] }) {
  const texts = useConversationTexts().list
  const format = useFormat()
  const rights = useRights()
  const { search } = useFilter()
  const [deleting, setDeleting] = useState<Session>()
  const columns: Column<Session>[] = [
    {
      id: 'name',
      label: texts.name,
      cell: ({ name }) => <span className="as-written clip-two">{nameOf(name, format)}</span>,
    },
    {
      id: 'user',
      label: texts.user,
      width: '9rem',
      cell: ({ userSessionId }) => (
        <span className="mono muted" dir="ltr" title={userSessionId}>
          {shortId(userSessionId)}
        </span>
      ),
    },
    {
      id: 'messages',
      label: texts.messages,
      width: '7rem',
      isNumber: true,
      cell: ({ totalMessages }) => format.number(totalMessages),
    },
    {
      id: 'last',
      label: texts.last,
      width: '11rem',
      cell: ({ lastMessageAt }) => (
        <time dateTime={lastMessageAt} title={format.time(lastMessageAt)} className="muted">
          {format.ago(lastMessageAt)}
        </time>
      ),
    },
  ]
  const copy = useCopy()
  const copyLink = (id: string) => void copy(addressOf(hrefOf(agentId, id)), texts.linkCopied)
  return (
    <>
      <Table
        label={texts.name}
        columns={columns}
        rows={sessions}
        idOf={({ id }) => id}
        nameOf={({ name }) => nameOf(name, format)}
        hrefOf={({ id }) => hrefOf(agentId, id, search)}
        empty={<NoSession agentId={agentId} />}
        actionsOf={(session) => (
          <MoreMenu label={texts.actionsOf(nameOf(session.name, format))}>
            <MenuItem icon="users" href={hrefOfUser(agentId, session.userSessionId)}>
              {texts.sameUser}
            </MenuItem>
            <MenuItem icon="copy" onAction={() => copyLink(session.id)}>
              {texts.copyLink}
            </MenuItem>
            {rights.can('chat') && <MenuLine />}
            {rights.can('chat') && (
              <MenuItem icon="trash" isDanger onAction={() => setDeleting(session)}>
                {texts.delete}
              </MenuItem>
            )}
          </MoreMenu>
        )}
      />
      <DeleteSession
        agentId={agentId}
        sessionId={deleting?.id ?? ''}
        name={deleting === undefined ? '' : nameOf(deleting.name, format)}
        isOpen={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
      />
    </>
  )
}

function NoSession({ agentId }: { agentId: string }) {
  const texts = useConversationTexts().list
  const rights = useRights()
  const { isSet } = useFilter()
  if (isSet) {
    const clear = <LinkButton href={`/agents/${agentId}/conversations`}>{texts.clear}</LinkButton>
    return (
      <EmptyState icon="search" title={texts.none} actions={clear}>
        {texts.noneText}
      </EmptyState>
    )
  }
  const actions = rights.can('chat') && (
    <LinkButton href={`/agents/${agentId}/playground`} look="primary" icon="playground">
      {texts.playground}
    </LinkButton>
  )
  return (
    <EmptyState icon="conversations" title={texts.empty} {...(actions && { actions })}>
      {texts.emptyText}
    </EmptyState>
  )
}
