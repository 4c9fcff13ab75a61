import { useState } from 'react'
import { type MessagePlace, useOrigin, useVersions, type Version } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { useConversationTexts } from './texts.ts'
import { TraceView } from './trace.tsx'

interface Props {
  place: MessagePlace
  /** Only the last reply can be regenerated, so only its earlier versions are fetched without a click. */
  isLast: boolean
}

/** The trace of a reply and its earlier versions, fetched when the section is opened. */
export function Details({ place, isLast }: Props) {
  const texts = useConversationTexts()
  const [isOpen, setOpen] = useState(false)
  const { data: versions } = useVersions(place, isOpen || isLast)
  return (
    <>
      {versions !== undefined && versions.length > 0 && <Versions versions={versions} />}
      <details className="conversations-details" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{texts.message.details}</summary>
        {isOpen && <Origin place={place} />}
      </details>
    </>
  )
}

function Origin({ place }: Pick<Props, 'place'>) {
  const { data, error, refetch } = useOrigin(place)
  if (error !== null) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (data === undefined)
    return (
      <Loading>
        <Skeleton width={40} lines={4} />
      </Loading>
    )
  return <TraceView reply={data} />
}

function Versions({ versions }: { versions: readonly Version[] }) {
  const texts = useConversationTexts()
  const format = useFormat()
  return (
    <details className="conversations-details">
      <summary>
        {texts.trace.versions} <span className="mark">{format.number(versions.length)}</span>
      </summary>
      <ol className="conversations-versions">
        {versions.map(({ content, model, createdAt, replacedAt, feedback }, i) => (
          <li key={replacedAt}>
            <span className="conversations-by">
              <strong>{texts.trace.version(i + 1)}</strong>
              <time dateTime={createdAt} title={format.time(createdAt)}>
                {format.ago(createdAt)}
              </time>
              {model !== null && <span className="mono">{model}</span>}
              {feedback !== undefined && (
                <span>{feedback.rating === 'up' ? texts.feedback.ratedGood : texts.feedback.ratedBad}</span>
              )}
            </span>
            <Markdown text={content} />
          </li>
        ))}
      </ol>
    </details>
  )
}
