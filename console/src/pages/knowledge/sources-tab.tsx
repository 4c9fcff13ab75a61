import { useState } from 'react'
import { toFailure } from '../../queries/errors.ts'
import { type Source, useDeleteSource, useRefreshSource, useSources } from '../../queries/sources.ts'
import { useFormat } from '../../texts/format.ts'
import { Badge, Status } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { OutsideLink } from '../../ui/link.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { toast } from '../../ui/toast.tsx'
import { AddWeb } from './add-web.tsx'
import { toneOf } from './document-status.tsx'
import { Failure } from './failure.tsx'
import { useKnowledgeTexts } from './texts.ts'

/** The web sources that the knowledge base is synchronized with. */
export function SourcesTab({ agentId }: { agentId: string }) {
  const texts = useKnowledgeTexts().sources
  const [isAdding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Source>()
  const { sources, more, isPending, error, refetch } = useSources(agentId)
  const remove = useDeleteSource(agentId)
  const add = (
    <Button icon="plus" size="small" onPress={() => setAdding(true)}>
      {texts.add}
    </Button>
  )
  return (
    <div className="stack">
      <Card title={texts.label} description={texts.text} isFlush actions={add}>
        {error !== null && sources.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <SkeletonRows rows={3} />
        ) : (
          <Rows agentId={agentId} sources={sources} onDelete={setLeaving} />
        )}
        {sources.length > 0 && <LoadMore {...more} />}
      </Card>
      {isAdding && <AddWeb agentId={agentId} onClose={() => setAdding(false)} />}
      <ConfirmDialog
        title={texts.removeTitle}
        action={texts.removeAction}
        isOpen={leaving !== undefined}
        onClose={() => setLeaving(undefined)}
        onConfirm={async () => {
          await remove.mutateAsync(leaving!.id)
          toast(texts.removed)
        }}
      >
        <p className="as-written">{leaving !== undefined && texts.removeText(leaving.url, leaving.documents)}</p>
      </ConfirmDialog>
    </div>
  )
}

interface RowsProps {
  agentId: string
  sources: readonly Source[]
  onDelete(source: Source): void
}

function Rows({ agentId, sources, onDelete }: RowsProps) {
  const texts = useKnowledgeTexts()
  const format = useFormat()
  const columns: Column<Source>[] = [
    { id: 'address', label: texts.sources.address, cell: (source) => <Address source={source} /> },
    { id: 'status', label: texts.sources.status, cell: (source) => <State source={source} />, width: '9rem' },
    {
      id: 'documents',
      label: texts.sources.documents,
      cell: ({ documents }) => format.number(documents),
      isNumber: true,
      width: '7rem',
    },
    { id: 'synced', label: texts.sources.synced, cell: (source) => <Synced source={source} />, width: '11rem' },
  ]
  return (
    <Table
      label={texts.sources.label}
      columns={columns}
      rows={sources}
      idOf={({ id }) => id}
      nameOf={({ url }) => url}
      actionsOf={(source) => <Actions agentId={agentId} source={source} onDelete={() => onDelete(source)} />}
      empty={
        <EmptyState icon="globe" title={texts.sources.empty}>
          {texts.sources.emptyText}
        </EmptyState>
      }
    />
  )
}

function Address({ source: { url, type, pages, error } }: { source: Source }) {
  const texts = useKnowledgeTexts().sources
  return (
    <span className="knowledge-name">
      <span className="row">
        <OutsideLink href={url}>{url}</OutsideLink>
        <Badge>{texts.types[type]}</Badge>
      </span>
      <span className="knowledge-origin muted">{texts.found(pages.found, pages.taken, pages.unchanged, pages.failed)}</span>
      {error !== null && <Failure error={error} isShort />}
    </span>
  )
}

function State({ source: { status } }: { source: Source }) {
  const texts = useKnowledgeTexts()
  return (
    <Status tone={toneOf[status]} isBusy={status === 'processing'}>
      {status === 'processing' ? texts.sources.fetching : texts.status[status]}
    </Status>
  )
}

function Synced({ source: { syncedAt, nextSyncAt } }: { source: Source }) {
  const texts = useKnowledgeTexts().sources
  const format = useFormat()
  return (
    <span className="knowledge-name muted">
      {syncedAt === null ? texts.never : <time dateTime={syncedAt}>{format.ago(syncedAt)}</time>}
      {nextSyncAt !== null && <span className="knowledge-origin">{texts.next(format.ago(nextSyncAt))}</span>}
    </span>
  )
}

function Actions({ agentId, source, onDelete }: { agentId: string; source: Source; onDelete(): void }) {
  const texts = useKnowledgeTexts().sources
  const uiTexts = useUiTexts()
  const { mutateAsync } = useRefreshSource(agentId)
  const refresh = () =>
    mutateAsync(source.id).then(
      () => toast(texts.refreshed),
      (error) => toast(toFailure(error, uiTexts).message, { tone: 'bad' }),
    )
  return (
    <MoreMenu label={texts.actions(source.url)}>
      <MenuItem icon="refresh" onAction={() => void refresh()}>
        {texts.refresh}
      </MenuItem>
      <MenuLine />
      <MenuItem icon="trash" isDanger onAction={onDelete}>
        {texts.remove}
      </MenuItem>
    </MoreMenu>
  )
}
