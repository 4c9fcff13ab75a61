import './users.css'
import { useDeferredValue, useState } from 'react'
import { useAgentName } from '../../queries/agents.ts'
import { toFailure } from '../../queries/errors.ts'
import { digitsOf, type User, useEraseUser, useUserExport, useUsers } from '../../queries/users.ts'
import type { PageProps } from '../../routing/routes.tsx'
import { useFormat } from '../../texts/format.ts'
import { Card } from '../../ui/card.tsx'
import { useCopy } from '../../ui/copy.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { download } from '../../ui/download.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { SearchField } from '../../ui/field.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { useUserTexts } from './texts.ts'

/** The end users of an agent, with actions to export and erase their data. */
export default function UsersPage({ agentId }: PageProps) {
  const texts = useUserTexts()
  const [text, setText] = useState('')
  const typed = digitsOf(text)
  const digits = useDeferredValue(typed ?? '')
  const { users, total, isPending, error, refetch, more } = useUsers(agentId, digits)
  return (
    <Page title={texts.title} of={useAgentName(agentId)} description={texts.description}>
      {total !== 0 && (
        <div className="users-search">
          <SearchField
            label={texts.search}
            value={text}
            onChange={setText}
            error={typed === undefined ? texts.noId : undefined}
          />
        </div>
      )}
      <Card isFlush>
        {error !== null && users.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={8} />
        ) : (
          <>
            <UserTable agentId={agentId} users={users} isSearch={digits !== ''} />
            {users.length > 0 && <LoadMore {...more} total={digits === '' ? total : undefined} />}
          </>
        )}
      </Card>
    </Page>
  )
}

function UserTable({ agentId, users, isSearch }: { agentId: string; users: readonly User[]; isSearch: boolean }) {
  const texts = useUserTexts()
  const format = useFormat()
  const copy = useCopy()
  const save = useSave(agentId)
  const [erasing, setErasing] = useState<User>()
  const href = (id: string) => `/agents/${agentId}/conversations?user=${id}`
  const columns: Column<User>[] = [
    {
      id: 'id',
      label: texts.id,
      cell: ({ externalUserId }) => (
        <span className="mono users-id" dir="ltr">
          {externalUserId}
        </span>
      ),
    },
    { id: 'sessions', label: texts.sessions, width: '8rem', isNumber: true, cell: ({ sessions }) => format.number(sessions) },
    { id: 'messages', label: texts.messages, width: '7rem', isNumber: true, cell: ({ messages }) => format.number(messages) },
    {
      id: 'last',
      label: texts.last,
      width: '10rem',
      cell: ({ lastMessageAt }) => (
        <time dateTime={lastMessageAt} title={format.time(lastMessageAt)} className="muted">
          {format.ago(lastMessageAt)}
        </time>
      ),
    },
  ]
  return (
    <>
      <Table
        label={texts.title}
        columns={columns}
        rows={users}
        idOf={({ externalUserId }) => externalUserId}
        nameOf={({ externalUserId }) => externalUserId}
        hrefOf={({ externalUserId }) => href(externalUserId)}
        empty={
          <EmptyState icon={isSearch ? 'search' : 'users'} title={isSearch ? texts.none : texts.empty}>
            {isSearch ? texts.noneText : texts.emptyText}
          </EmptyState>
        }
        actionsOf={(user) => (
          <MoreMenu label={texts.actionsOf(user.externalUserId)}>
            <MenuItem icon="conversations" href={href(user.externalUserId)}>
              {texts.conversations}
            </MenuItem>
            <MenuItem icon="copy" onAction={() => void copy(user.externalUserId, texts.copied)}>
              {texts.copyId}
            </MenuItem>
            <MenuItem icon="download" onAction={() => void save(user)}>
              {texts.export}
            </MenuItem>
            <MenuLine />
            <MenuItem icon="trash" isDanger onAction={() => setErasing(user)}>
              {texts.erase}
            </MenuItem>
          </MoreMenu>
        )}
      />
      <EraseUser agentId={agentId} user={erasing} onClose={() => setErasing(undefined)} />
    </>
  )
}

/** Exports all data of a user to a file. */
function useSave(agentId: string) {
  const texts = useUserTexts()
  const uiTexts = useUiTexts()
  const exportUser = useUserExport(agentId)
  return async ({ externalUserId }: User) => {
    toast(texts.exporting)
    try {
      download(`user ${externalUserId}`, 'jsonl', await exportUser(externalUserId), 'application/x-ndjson')
      toast(texts.exported)
    } catch (error) {
      toast(toFailure(error, uiTexts).message, { tone: 'bad' })
    }
  }
}

function EraseUser({ agentId, user, onClose }: { agentId: string; user: User | undefined; onClose(): void }) {
  const texts = useUserTexts()
  const { mutateAsync } = useEraseUser(agentId)
  if (user === undefined) return null
  const erase = async () => toast(texts.erased(await mutateAsync(user.externalUserId)))
  return (
    <ConfirmDialog
      title={texts.eraseTitle}
      action={texts.eraseAction}
      isOpen
      onClose={onClose}
      onConfirm={erase}
      word={user.externalUserId.slice(0, 8)}
    >
      <p className="mono users-id" dir="ltr">
        {user.externalUserId}
      </p>
      <p>{texts.eraseText(user.sessions)}</p>
    </ConfirmDialog>
  )
}
