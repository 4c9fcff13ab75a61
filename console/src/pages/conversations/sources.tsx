import { useState } from 'react'
import type { CitedSource } from 'repartee-client'
import { useRights } from '../../session/session.tsx'
import { Link, OutsideLink } from '../../ui/link.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useConversationTexts } from './texts.ts'

/** Maximum length of a snippet before it is expanded. */
const SHORT_CHARS = 180

export const sourceElementId = (messageId: string, n: number) => `source-${messageId}-${n}`

/** The passages that a reply cites, numbered. */
export function Sources({
  agentId,
  messageId,
  sources,
}: {
  agentId: string
  messageId: string
  sources: readonly CitedSource[]
}) {
  const texts = useConversationTexts().message
  return (
    <div className="conversations-sources">
      <ul aria-label={texts.sources}>
        {sources.map((source) => (
          <Source key={source.index} agentId={agentId} messageId={messageId} source={source} />
        ))}
      </ul>
    </div>
  )
}

/** Placeholder for this number of sources. */
export const SourcesWaiting = ({ count, isBusy }: { count: number; isBusy: boolean }) => (
  <div className="conversations-sources" aria-hidden="true" aria-busy={isBusy}>
    <div className="conversations-places">
      {Array.from({ length: count }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all placeholders are equal
        <div key={i} className="conversations-source">
          <Skeleton width={14} />
          <Skeleton width={34} lines={3} />
        </div>
      ))}
    </div>
  </div>
)

function Source({ agentId, messageId, source }: { agentId: string; messageId: string; source: CitedSource }) {
  const texts = useConversationTexts().message
  const rights = useRights()
  const { index, title, url, page, snippet, documentId } = source
  const [isWhole, setWhole] = useState(false)
  const isLong = snippet.length > SHORT_CHARS
  return (
    <li id={sourceElementId(messageId, index)} tabIndex={-1} className="conversations-source">
      <span className="conversations-source-head">
        <span className="mark" aria-hidden="true">
          {index}
        </span>
        <span className="as-written conversations-source-title">
          {rights.can('knowledge') ? <Link href={`/agents/${agentId}/knowledge/documents/${documentId}`}>{title}</Link> : title}
        </span>
        {page !== undefined && <span className="muted">{texts.page(page)}</span>}
      </span>
      <blockquote dir="auto">{isLong && !isWhole ? `${snippet.slice(0, SHORT_CHARS).trimEnd()}…` : snippet}</blockquote>
      <span className="row">
        {isLong && (
          <button type="button" className="conversations-more" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
            {isWhole ? texts.showLess : texts.showAll}
          </button>
        )}
        {url !== null && (
          <OutsideLink href={url} className="conversations-url">
            {hostOf(url)}
          </OutsideLink>
        )}
      </span>
    </li>
  )
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url)
