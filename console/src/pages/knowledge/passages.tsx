import { useEffect, useMemo, useRef } from 'react'
import { useSearch } from 'wouter'
import { type Document, isUnfinished, type Passage, usePassages } from '../../queries/documents.ts'
import { Card } from '../../ui/card.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Note } from '../../ui/note.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { Highlight } from './highlight.tsx'
import { useKnowledgeTexts } from './texts.ts'

/** The passage that the address names: by its id, or by words that it contains. */
function useWanted() {
  const search = useSearch()
  return useMemo(() => {
    const asked = new URLSearchParams(search)
    return { id: asked.get('passage') ?? undefined, words: asked.get('find') ?? undefined }
  }, [search])
}

/** The passages of a document, scrolled to the passage that the address names. */
export function Passages({ agentId, document }: { agentId: string; document: Document }) {
  const texts = useKnowledgeTexts().document
  const { id, words } = useWanted()
  const { passages, more, isPending, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = usePassages(
    agentId,
    document.id,
  )
  const isWanted = (passage: Passage) => passage.id === id || (words !== undefined && passage.text.includes(words))
  const wanted = passages.find(isWanted)
  const isAsked = id !== undefined || words !== undefined
  // The service lists passages from the first one, so pages are fetched until the passage is found.
  const isLooking = isAsked && wanted === undefined && hasNextPage && error === null
  useEffect(() => {
    if (isLooking && !isFetchingNextPage) void fetchNextPage()
  }, [isLooking, isFetchingNextPage, fetchNextPage])
  // A document that is processed again has other passages.
  const isBusy = isUnfinished(document)
  const state = `${document.status} ${document.updatedAt}`
  const latest = useRef(state)
  useEffect(() => {
    if (latest.current === state) return
    latest.current = state
    if (!isBusy) void refetch()
  }, [state, isBusy, refetch])
  return (
    <>
      {isLooking && <Note>{texts.looking}</Note>}
      {isAsked && !isPending && wanted === undefined && !hasNextPage && <Note tone="warn">{texts.notFound}</Note>}
      <Card title={texts.read} description={texts.readText} isFlush>
        {error !== null && passages.length === 0 ? (
          <div className="card-body">
            <ErrorNote error={error} onRetry={() => void refetch()} />
          </div>
        ) : isPending ? (
          <Loading>
            <div className="card-body">
              <Skeleton width={60} lines={8} />
            </div>
          </Loading>
        ) : passages.length === 0 ? (
          <p className="card-body muted">{texts.noPassages}</p>
        ) : (
          <ol className="knowledge-passages">
            {passages.map((passage) => (
              <OnePassage key={passage.id} passage={passage} isWanted={passage === wanted} words={words} />
            ))}
          </ol>
        )}
        {passages.length > 0 && <LoadMore {...more} />}
      </Card>
    </>
  )
}

function OnePassage({ passage, isWanted, words }: { passage: Passage; isWanted: boolean; words: string | undefined }) {
  const texts = useKnowledgeTexts().document
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isWanted) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isWanted])
  const { index, heading, page, text } = passage
  return (
    <li
      ref={element}
      className={`knowledge-passage ${isWanted ? 'knowledge-passage-wanted' : ''}`}
      {...(isWanted && { 'aria-current': 'true' as const })}
    >
      <div className="knowledge-passage-head">
        <span className="numbers">{texts.number(index + 1)}</span>
        {page !== null && <span className="numbers">{texts.page(page)}</span>}
        {heading !== '' && (
          <span className="knowledge-passage-heading">
            <bdi>{heading}</bdi>
          </span>
        )}
        <span className="knowledge-passage-size numbers">{texts.characters([...text].length)}</span>
      </div>
      <div className="knowledge-text" dir="auto">
        {isWanted && words !== undefined ? <Highlight text={text} phrase={words} /> : text}
      </div>
    </li>
  )
}
