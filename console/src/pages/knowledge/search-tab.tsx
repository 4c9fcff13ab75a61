import { useState } from 'react'
import { useSearch as useAddress, useLocation } from 'wouter'
import { useAgent } from '../../queries/agents.ts'
import { type Hit, type SearchTrace, useSearch } from '../../queries/documents.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { SearchField } from '../../ui/field.tsx'
import { Link, OutsideLink } from '../../ui/link.tsx'
import { useMethods } from '../../ui/methods.ts'
import { Select } from '../../ui/select.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { Highlight } from './highlight.tsx'
import { useKnowledgeTexts } from './texts.ts'

const MOST = ['10', '25', '50', '100'] as const
type Most = (typeof MOST)[number]

/** Shows the passages that would ground the reply to a question. The question is in the address. */
export function SearchTab({ agentId }: { agentId: string }) {
  const texts = useKnowledgeTexts().search
  const format = useFormat()
  const [, navigate] = useLocation()
  const address = new URLSearchParams(useAddress())
  const asked = address.get('q') ?? ''
  const most = MOST.find((one) => one === address.get('most')) ?? '10'
  const [typed, setTyped] = useState(asked)
  const { data, error, isFetching, refetch } = useSearch(agentId, asked, Number(most))
  const go = (q: string, many: Most) => {
    const query = new URLSearchParams({ ...(q !== '' && { q }), ...(many !== '10' && { most: many }) })
    navigate(`/agents/${agentId}/knowledge/search?${query}`, { replace: q === asked })
    if (q === asked && q !== '') void refetch()
  }
  return (
    <div className="stack">
      <search>
        <form
          className="knowledge-search"
          onSubmit={(event) => {
            event.preventDefault()
            go(typed.trim(), most)
          }}
        >
          <SearchField
            label={texts.label}
            placeholder={texts.placeholder}
            description={texts.text}
            value={typed}
            onChange={setTyped}
            onClear={() => go('', most)}
          />
          <Select<Most>
            label={texts.most}
            hidesLabel
            value={most}
            options={MOST.map((id) => ({ id, label: format.number(Number(id)) }))}
            onChange={(next) => go(typed.trim(), next)}
          />
          <Button look="primary" type="submit" isBusy={isFetching && asked !== ''}>
            {texts.submit}
          </Button>
        </form>
      </search>
      {asked === '' ? (
        <Card>
          <EmptyState icon="search" title={texts.empty}>
            {texts.emptyText}
          </EmptyState>
        </Card>
      ) : error !== null ? (
        <ErrorNote title={texts.failed} error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Card isFlush>
          <SkeletonRows rows={6} />
        </Card>
      ) : (
        <Hits agentId={agentId} query={asked} {...data} />
      )}
    </div>
  )
}

interface HitsProps {
  agentId: string
  query: string
  hits: readonly Hit[]
  trace: SearchTrace
  ms: number
}

function Hits({ agentId, query, hits, trace, ms }: HitsProps) {
  const texts = useKnowledgeTexts().search
  const format = useFormat()
  const rights = useRights()
  const topK = useAgent(agentId).data?.retrieval.topK
  const best = hits[0]?.score ?? 1
  return (
    <>
      <div className="row spread">
        <span className="muted" role="status">
          {texts.found(hits.length, format.ms(ms))}
          {hits.length > 0 && ` · ${texts.sure(format.percent(trace.grounding.confidence))} · ${texts.scoreText}`}
        </span>
        {rights.can('chat') && (
          <LinkButton
            size="small"
            icon="playground"
            href={`/agents/${agentId}/playground?${new URLSearchParams({ ask: query })}`}
          >
            {texts.ask}
          </LinkButton>
        )}
      </div>
      {hits.length === 0 ? (
        <Card>
          <EmptyState icon="search" title={texts.none}>
            {texts.noneText}
          </EmptyState>
        </Card>
      ) : (
        <Card isFlush>
          <ol className="knowledge-hits">
            {hits.map((hit, place) => (
              <OneHit
                key={hit.passageId}
                agentId={agentId}
                query={query}
                hit={hit}
                scores={trace.passages[place]?.scores ?? {}}
                rank={place + 1}
                best={best}
                cut={topK}
              />
            ))}
          </ol>
        </Card>
      )}
    </>
  )
}

interface OneHitProps {
  agentId: string
  query: string
  hit: Hit
  /** Scores by retrieval method. */
  scores: Record<string, number>
  rank: number
  /** The score of the first hit. */
  best: number
  /** Number of passages that a reply gets. */
  cut: number | undefined
}

function OneHit({ agentId, query, hit, scores, rank, best, cut }: OneHitProps) {
  const texts = useKnowledgeTexts().search
  const format = useFormat()
  const href = `/agents/${agentId}/knowledge/documents/${hit.documentId}?${new URLSearchParams({ passage: hit.passageId })}`
  const isBeyond = cut !== undefined && rank > cut
  return (
    <li className={`knowledge-hit ${isBeyond ? 'knowledge-hit-beyond' : ''}`}>
      {cut !== undefined && rank === cut + 1 && <p className="knowledge-cut">{texts.cut(cut)}</p>}
      <div className="knowledge-hit-head">
        <span className="knowledge-rank numbers" aria-hidden="true">
          {format.number(rank)}
        </span>
        <h2 className="knowledge-hit-title">
          <Link href={href}>
            <bdi>{hit.title}</bdi>
          </Link>
        </h2>
        <span className="knowledge-score">
          <span className="knowledge-score-bar" aria-hidden="true">
            <span style={{ inlineSize: `${best > 0 ? Math.max(0, (100 * hit.score) / best) : 0}%` }} />
          </span>
          <span className="hidden-visually">{texts.score}</span>
          <span className="numbers">{format.number(Math.round(hit.score * 1000) / 1000)}</span>
        </span>
      </div>
      {hit.heading !== '' && hit.heading !== hit.title && (
        <p className="knowledge-hit-heading muted">
          <bdi>{hit.heading}</bdi>
        </p>
      )}
      <div className="knowledge-text" dir="auto">
        <Highlight text={hit.text} query={query} />
      </div>
      <Scores scores={scores} />
      {hit.url !== null && (
        <p className="knowledge-hit-url">
          <OutsideLink href={hit.url}>{hit.url}</OutsideLink>
        </p>
      )}
    </li>
  )
}

function Scores({ scores }: { scores: Record<string, number> }) {
  const format = useFormat()
  return (
    <dl className="knowledge-scores">
      {useMethods([{ scores }]).map(({ id, name }) => (
        <div key={id}>
          <dt>{name}</dt>
          <dd className="numbers">{format.number(Math.round(scores[id]! * 100) / 100)}</dd>
        </div>
      ))}
    </dl>
  )
}
