import { useState } from 'react'
import { FileTrigger } from 'react-aria-components/FileTrigger'
import { useAgentName } from '../../queries/agents.ts'
import { type Document, isUnfinished, useDocument, useReplaceDocument } from '../../queries/documents.ts'
import { isNotFound } from '../../queries/errors.ts'
import { useGoOn } from '../../routing/go-on.ts'
import { useFormat } from '../../texts/format.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { BackLink, Link, OutsideLink } from '../../ui/link.tsx'
import { Note } from '../../ui/note.tsx'
import { Page } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { DeleteDocuments } from './delete-documents.tsx'
import { DetailsCard } from './details-card.tsx'
import { DocumentState } from './document-status.tsx'
import { Failure } from './failure.tsx'
import { Passages } from './passages.tsx'
import { useKnowledgeTexts } from './texts.ts'
import { useFetchAgain } from './use-fetch-again.ts'

/** One document: its state, its metadata, and its passages. */
export function DocumentPage({ agentId, documentId }: { agentId: string; documentId: string }) {
  const texts = useKnowledgeTexts().document
  const agentName = useAgentName(agentId)
  const goOn = useGoOn()
  const { data: document, error, refetch } = useDocument(agentId, documentId)
  const [isLeaving, setLeaving] = useState(false)
  const home = `/agents/${agentId}/knowledge`
  if (document === undefined) {
    return (
      <Page title={texts.title} of={agentName} above={<Back href={home} />}>
        <Card isFlush={error === null}>
          {error === null ? (
            <SkeletonRows rows={6} />
          ) : isNotFound(error) ? (
            <EmptyState icon="file" title={texts.gone} actions={<LinkButton href={home}>{texts.back}</LinkButton>}>
              {texts.goneText}
            </EmptyState>
          ) : (
            <ErrorNote error={error} onRetry={() => void refetch()} />
          )}
        </Card>
      </Page>
    )
  }
  return (
    <Page
      title={document.title}
      of={agentName}
      above={<Back href={home} />}
      actions={<Actions agentId={agentId} document={document} onDelete={() => setLeaving(true)} />}
    >
      {document.error !== null && (
        <Note tone="bad">
          <Failure error={document.error} />
          {document.passageCount > 0 && <p>{texts.failedOld}</p>}
        </Note>
      )}
      <div className="knowledge-document">
        <div className="stack knowledge-side">
          <FactsCard agentId={agentId} document={document} />
          <DetailsCard agentId={agentId} document={document} />
        </div>
        <div className="stack">
          <Passages agentId={agentId} document={document} />
        </div>
      </div>
      <DeleteDocuments
        agentId={agentId}
        documents={isLeaving ? [document] : []}
        onClose={() => setLeaving(false)}
        onDone={() => goOn(home, { replace: true })}
      />
    </Page>
  )
}

const Back = ({ href }: { href: string }) => <BackLink href={href}>{useKnowledgeTexts().document.back}</BackLink>

function Actions({ agentId, document, onDelete }: { agentId: string; document: Document; onDelete(): void }) {
  const texts = useKnowledgeTexts()
  const { mutateAsync, isPending, error } = useReplaceDocument(agentId)
  const { fetchAgain, isPending: isFetching } = useFetchAgain(agentId)
  const replace = async (file: File | undefined) => {
    if (file === undefined) return
    const replaced = await mutateAsync({ document, by: file }).catch(() => undefined)
    if (replaced !== undefined) toast(texts.document.replaced)
  }
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      {document.source.type === 'url' && (
        <Button icon="refresh" isBusy={isFetching} onPress={() => void fetchAgain(document)}>
          {texts.document.fetchAgain}
        </Button>
      )}
      <FileTrigger onSelect={(list) => void replace(list?.[0])}>
        <Button icon="upload" isBusy={isPending}>
          {texts.document.replace}
        </Button>
      </FileTrigger>
      <Button icon="trash" onPress={onDelete}>
        {texts.remove.action}
      </Button>
    </>
  )
}

function FactsCard({ agentId, document }: { agentId: string; document: Document }) {
  const texts = useKnowledgeTexts()
  const format = useFormat()
  const { id, source, mediaType, bytes, passageCount, sourceId, createdAt, updatedAt } = document
  const words = texts.document
  return (
    <Card title={words.facts}>
      <dl className="fact-lines">
        <dt>{texts.list.status}</dt>
        <dd aria-live={isUnfinished(document) ? 'polite' : 'off'}>
          <DocumentState document={document} />
        </dd>
        <dt>{words.source}</dt>
        <dd>
          {source.url !== undefined ? (
            <OutsideLink href={source.url}>{source.url}</OutsideLink>
          ) : (
            <bdi>{source.filename || words.types[source.type]}</bdi>
          )}
        </dd>
        {sourceId !== undefined && (
          <>
            <dt>{texts.sources.label}</dt>
            <dd>
              <Link href={`/agents/${agentId}/knowledge/sources`}>{words.ofSource}</Link>
            </dd>
          </>
        )}
        <dt>{words.type}</dt>
        <dd>
          <bdi>{mediaType}</bdi>
        </dd>
        <dt>{words.size}</dt>
        <dd>{format.bytes(bytes)}</dd>
        <dt>{words.passages}</dt>
        <dd>{format.number(passageCount)}</dd>
        <dt>{words.added}</dt>
        <dd>{format.time(createdAt)}</dd>
        <dt>{words.changed}</dt>
        <dd>{format.time(updatedAt)}</dd>
        <dt>{words.id}</dt>
        <dd className="fact-id">
          <bdi className="mono">{id}</bdi>
          <CopyButton text={id} label={words.copyId} />
        </dd>
      </dl>
    </Card>
  )
}
