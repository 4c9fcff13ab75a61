import { Button as AriaButton } from 'react-aria-components/Button'
import { DialogTrigger } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import type { CitedSource } from '../../queries/replies.ts'
import { useRights } from '../../session/session.tsx'
import { useFormat } from '../../texts/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Link, OutsideLink } from '../../ui/link.tsx'
import { usePlaygroundTexts } from './texts.ts'

interface CitationProps {
  agentId: string
  source: CitedSource
  /** `mark`: inside the text. `chip`: below the text, with its title. */
  look: 'mark' | 'chip'
}

/** A button that opens the details of a source. */
export function Citation({ agentId, source, look }: CitationProps) {
  const texts = usePlaygroundTexts().source
  const name = texts.mark(source.index, source.title)
  return (
    <DialogTrigger>
      {look === 'mark' ? (
        <AriaButton className="mark" aria-label={name}>
          {source.index}
        </AriaButton>
      ) : (
        <AriaButton className="playground-chip">
          <span className="mark" aria-hidden="true">
            {source.index}
          </span>
          <span className="clip">
            <bdi>{source.title}</bdi>
          </span>
        </AriaButton>
      )}
      {/* The popover itself is the dialog, so that its hidden close buttons are inside it. */}
      <Popover aria-label={name} className="popover playground-card" placement="bottom start" offset={6}>
        <Card agentId={agentId} source={source} />
      </Popover>
    </DialogTrigger>
  )
}

/** Length of the snippet start that identifies its passage. */
const FIND_CHARS = 200

function Card({ agentId, source: { title, page, snippet, score, documentId, url } }: Omit<CitationProps, 'look'>) {
  const texts = usePlaygroundTexts().source
  const format = useFormat()
  const rights = useRights()
  const find = new URLSearchParams({ find: [...snippet].slice(0, FIND_CHARS).join('') })
  return (
    <div className="playground-card-words">
      <div className="playground-card-head">
        <Icon name="file" className="muted" />
        <strong>
          <bdi>{title}</bdi>
        </strong>
      </div>
      <blockquote className="playground-snippet" dir="auto">
        {snippet}
      </blockquote>
      <div className="playground-card-foot">
        <span className="muted numbers">
          {page !== undefined && `${texts.page(page)} · `}
          {texts.score} {format.number(Math.round(score * 1000) / 1000)}
        </span>
        {rights.can('knowledge') && (
          <Link href={`/agents/${agentId}/knowledge/documents/${documentId}?${find}`}>{texts.open}</Link>
        )}
        {url !== null && <OutsideLink href={url}>{texts.outside}</OutsideLink>}
      </div>
    </div>
  )
}
