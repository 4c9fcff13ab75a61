import type { useModels } from '../../queries/models.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Table } from '../../ui/table.tsx'
import { useSystemTexts } from './texts.ts'

interface Provider {
  name: string
  chat: string[]
  embedding: string[]
}

/** The models that agents can use, by provider. */
export function Models({ models: { data, error, isPending, refetch } }: { models: ReturnType<typeof useModels> }) {
  const texts = useSystemTexts()
  const providers: Provider[] = Object.entries(Object.groupBy(data ?? [], ({ provider }) => provider)).map(
    ([name, all = []]) => ({
      name,
      chat: all.filter(({ kind }) => kind === 'chat').map(({ id }) => id),
      embedding: all.filter(({ kind }) => kind === 'embedding').map(({ id }) => id),
    }),
  )
  return (
    <Card title={texts.models} description={texts.modelsText} isFlush>
      {error !== null && data === undefined ? (
        <div className="card-body">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      ) : isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <Table
          label={texts.models}
          columns={[
            { id: 'provider', label: texts.provider, cell: ({ name }) => name },
            { id: 'chat', label: texts.chat, width: '48%', cell: ({ chat }) => <Ids of={chat} /> },
            { id: 'embedding', label: texts.embedding, width: '32%', cell: ({ embedding }) => <Ids of={embedding} /> },
          ]}
          rows={providers}
          idOf={({ name }) => name}
          nameOf={({ name }) => name}
          empty={<EmptyState icon="sparkle" title={texts.noModels} />}
        />
      )}
    </Card>
  )
}

function Ids({ of }: { of: readonly string[] }) {
  const texts = useSystemTexts()
  if (of.length === 0) return <span className="muted">{texts.none}</span>
  return (
    <span className="row system-ids">
      {of.map((id) => (
        <Badge key={id}>{id}</Badge>
      ))}
    </span>
  )
}
