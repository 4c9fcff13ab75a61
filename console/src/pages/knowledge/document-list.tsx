import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { type Document, type DocumentStatus, isUnfinished, useDocumentCount, useDocuments } from '../../queries/documents.ts'
import { useFormat } from '../../texts/format.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Icon } from '../../ui/icon.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { MenuItem, MenuLine, MoreMenu } from '../../ui/menu.tsx'
import { Select } from '../../ui/select.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { DeleteDocuments } from './delete-documents.tsx'
import { DocumentState } from './document-status.tsx'
import { Failure } from './failure.tsx'
import { useKnowledgeTexts } from './texts.ts'
import { useFetchAgain } from './use-fetch-again.ts'

type Filter = DocumentStatus | 'all'

/** The documents of an agent, with their actions. */
export function DocumentList({ agentId }: { agentId: string }) {
  const texts = useKnowledgeTexts()
  const [filter, setFilter] = useState<Filter>('all')
  const [selected, setSelected] = useState<Set<string>>(new Set())
  const [leaving, setLeaving] = useState<Document[]>([])
  const { documents, more, isPending, error, refetch } = useDocuments(agentId, filter === 'all' ? undefined : filter)
  const { data: counted = 0, isPending: isCounting, refetch: count } = useDocumentCount(agentId, 'failed')
  const failures = Math.max(counted, documents.filter(({ status }) => status === 'failed').length)
  useWhenRead(documents, count)
  const chosen = documents.filter(({ id }) => selected.has(id))
  const pick = (next: Filter) => {
    setFilter(next)
    setSelected(new Set())
  }
  const rows = <Rows agentId={agentId} documents={documents} selected={selected} onSelect={setSelected} onDelete={setLeaving} />
  const isEmpty = !isPending && documents.length === 0
  return (
    <>
      <Card
        title={texts.list.label}
        isFlush
        actions={
          chosen.length > 0 ? (
            <Chosen count={chosen.length} onClear={() => setSelected(new Set())} onDelete={() => setLeaving(chosen)} />
          ) : (
            !(isEmpty && filter === 'all') && <StatusFilter value={filter} onChange={pick} />
          )
        }
      >
        {error !== null && documents.length === 0 ? (
          <div className="card-body">
            <ErrorNote title={texts.list.failed} error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending || isCounting ? (
          <SkeletonRows rows={4} />
        ) : isEmpty ? (
          <Empty agentId={agentId} isFiltered={filter !== 'all'} onShowAll={() => pick('all')} />
        ) : (
          <>
            {failures > 0 && filter !== 'failed' && <Failures count={failures} onShow={() => pick('failed')} />}
            {rows}
          </>
        )}
        {!isEmpty && !isPending && <LoadMore {...more} />}
      </Card>
      <DeleteDocuments
        agentId={agentId}
        documents={leaving}
        onClose={() => setLeaving([])}
        onDone={() => setSelected(new Set())}
      />
    </>
  )
}

/** Counts the failed documents again whenever the list shows that a document was processed. */
function useWhenRead(documents: readonly Document[], count: () => unknown): void {
  const unread = documents.filter(isUnfinished).length
  const before = useRef(unread)
  useEffect(() => {
    if (unread < before.current) void count()
    before.current = unread
  }, [unread, count])
}

interface RowsProps {
  agentId: string
  documents: readonly Document[]
  selected: ReadonlySet<string>
  onSelect(selected: Set<string>): void
  onDelete(documents: Document[]): void
}

function Rows({ agentId, documents, selected, onSelect, onDelete }: RowsProps) {
  const texts = useKnowledgeTexts().list
  const format = useFormat()
  const columns: Column<Document>[] = [
    { id: 'title', label: texts.document, cell: (document) => <Name document={document} /> },
    { id: 'status', label: texts.status, cell: (document) => <DocumentState document={document} />, width: '9rem' },
    {
      id: 'passages',
      label: texts.passages,
      cell: ({ passageCount }) => format.number(passageCount),
      isNumber: true,
      width: '6rem',
    },
    {
      id: 'size',
      label: texts.size,
      cell: ({ bytes }) => format.bytes(bytes),
      isNumber: true,
      isMinor: true,
      width: '6rem',
    },
    {
      id: 'changed',
      label: texts.changed,
      cell: ({ updatedAt }) => (
        <time className="muted knowledge-time" dateTime={updatedAt} title={format.time(updatedAt)}>
          {format.ago(updatedAt)}
        </time>
      ),
      isMinor: true,
      width: '9rem',
    },
  ]
  return (
    <Table
      label={texts.label}
      columns={columns}
      rows={documents}
      idOf={({ id }) => id}
      nameOf={({ title }) => title}
      hrefOf={({ id }) => `/agents/${agentId}/knowledge/documents/${id}`}
      actionsOf={(document) => <Actions agentId={agentId} document={document} onDelete={() => onDelete([document])} />}
      selected={selected}
      onSelect={onSelect}
    />
  )
}

function Name({ document: { title, source, error } }: { document: Document }) {
  const origin = source.type === 'url' ? source.url : source.type === 'file' ? source.filename : title
  return (
    <span className="knowledge-name">
      <span className="knowledge-name-title">
        <Icon name={source.type === 'url' ? 'globe' : 'file'} className="muted" />
        <span className="as-written">{title}</span>
      </span>
      {origin !== title && (
        <span className="knowledge-origin muted">
          <bdi>{origin}</bdi>
        </span>
      )}
      {error !== null && <Failure error={error} isShort />}
    </span>
  )
}

function Actions({ agentId, document, onDelete }: { agentId: string; document: Document; onDelete(): void }) {
  const texts = useKnowledgeTexts()
  const [, navigate] = useLocation()
  const { fetchAgain } = useFetchAgain(agentId)
  return (
    <MoreMenu label={texts.list.actions(document.title)}>
      <MenuItem icon="file" onAction={() => navigate(`/agents/${agentId}/knowledge/documents/${document.id}`)}>
        {texts.list.open}
      </MenuItem>
      {document.source.type === 'url' && (
        <MenuItem icon="refresh" onAction={() => void fetchAgain(document)}>
          {texts.document.fetchAgain}
        </MenuItem>
      )}
      <MenuLine />
      <MenuItem icon="trash" isDanger onAction={onDelete}>
        {texts.remove.action}
      </MenuItem>
    </MoreMenu>
  )
}

function StatusFilter({ value, onChange }: { value: Filter; onChange(value: Filter): void }) {
  const texts = useKnowledgeTexts()
  const options: { id: Filter; label: string }[] = [
    { id: 'all', label: texts.list.all },
    ...(['ready', 'processing', 'queued', 'failed'] as const).map((id) => ({ id, label: texts.status[id] })),
  ]
  return (
    <div className="knowledge-filter">
      <Select label={texts.list.filter} hidesLabel options={options} value={value} onChange={onChange} />
    </div>
  )
}

function Chosen({ count, onClear, onDelete }: { count: number; onClear(): void; onDelete(): void }) {
  const texts = useKnowledgeTexts()
  return (
    <>
      <span className="muted" role="status">
        {texts.list.selected(count)}
      </span>
      <Button size="small" look="quiet" onPress={onClear}>
        {texts.list.clear}
      </Button>
      <Button size="small" icon="trash" onPress={onDelete}>
        {texts.remove.action}
      </Button>
    </>
  )
}

/** A link to the failed documents, which are hard to find in the full list. */
function Failures({ count, onShow }: { count: number; onShow(): void }) {
  const texts = useKnowledgeTexts().list
  return (
    <p className="knowledge-failures">
      <Icon name="warning" />
      <span>{texts.failures(count)}</span>
      <Button size="small" onPress={onShow}>
        {texts.showFailures}
      </Button>
    </p>
  )
}

function Empty({ agentId, isFiltered, onShowAll }: { agentId: string; isFiltered: boolean; onShowAll(): void }) {
  const texts = useKnowledgeTexts().list
  if (isFiltered) {
    return (
      <EmptyState
        icon="filter"
        title={texts.none}
        actions={
          <Button size="small" onPress={onShowAll}>
            {texts.showAll}
          </Button>
        }
      />
    )
  }
  return (
    <EmptyState
      icon="knowledge"
      title={texts.empty}
      actions={
        <LinkButton href={`/agents/${agentId}/playground`} icon="playground">
          {texts.playground}
        </LinkButton>
      }
    >
      {texts.emptyText}
    </EmptyState>
  )
}
