import { useState } from 'react'
import type { Insights } from '../../queries/insights.ts'
import { useFormat } from '../../texts/format.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Link } from '../../ui/link.tsx'
import { type Column, type Sort, Table } from '../../ui/table.tsx'
import { useInsightTexts } from './texts.ts'

type Cited = Insights['documents'][number]
type Figure = 'cited' | 'up' | 'down'

const FIRST = 10

/** The documents that replies cite. */
export function Documents({ agentId, documents }: { agentId: string; documents: readonly Cited[] }) {
  const texts = useInsightTexts().documents
  const format = useFormat()
  const [sort, setSort] = useState<Sort>({ column: 'cited', isDescending: true })
  const [isWhole, setWhole] = useState(false)
  const cited = documents.filter((document) => document.cited > 0)
  const never = documents.filter((document) => document.cited === 0)
  const href = (id: string) => `/agents/${agentId}/knowledge/documents/${id}`
  const sorted = cited.toSorted((a, b) => {
    const [first, second] = sort.isDescending ? [b, a] : [a, b]
    return sort.column === 'name'
      ? first.title.localeCompare(second.title)
      : first[sort.column as Figure] - second[sort.column as Figure]
  })
  const figure = (id: Figure): Column<Cited> => ({
    id,
    label: texts[id],
    isNumber: true,
    isSortable: true,
    width: '8rem',
    cell: (document) => (document[id] === 0 ? <span className="muted">0</span> : format.number(document[id])),
  })
  const columns: Column<Cited>[] = [
    { id: 'name', label: texts.name, isSortable: true, cell: ({ title }) => <span className="as-written">{title}</span> },
    figure('cited'),
    figure('up'),
    figure('down'),
  ]
  const hasMore = sorted.length > FIRST && !isWhole
  const foot = (hasMore || never.length > 0) && (
    <div className="insights-foot">
      {hasMore && (
        <Button size="small" look="quiet" onPress={() => setWhole(true)}>
          {texts.showAll(sorted.length)}
        </Button>
      )}
      {never.length > 0 && (
        <details className="insights-never">
          <summary>{texts.never(never.length)}</summary>
          <ul>
            {never.map(({ documentId, title }) => (
              <li key={documentId}>
                <Link href={href(documentId)} className="as-written">
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
  return (
    <Card title={texts.title} description={texts.description} isFlush {...(foot && { foot })}>
      {documents.length === 0 ? (
        <EmptyState
          icon="knowledge"
          title={texts.empty}
          actions={<LinkButton href={`/agents/${agentId}/knowledge`}>{texts.knowledge}</LinkButton>}
        >
          {texts.emptyText}
        </EmptyState>
      ) : (
        cited.length > 0 && (
          <Table
            label={texts.title}
            columns={columns}
            rows={isWhole ? sorted : sorted.slice(0, FIRST)}
            idOf={({ documentId }) => documentId}
            nameOf={({ title }) => title}
            hrefOf={({ documentId }) => href(documentId)}
            sort={sort}
            onSort={setSort}
          />
        )
      )}
    </Card>
  )
}
