import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import type { Message } from '../../queries/conversations.ts'
import { type MessageDetail, useMessage } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { Badge } from '../../ui/badge.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { SafeHtml } from '../../ui/safe-html.tsx'
import { Details } from './details.tsx'
import { Feedback } from './feedback.tsx'
import { Sources, SourcesWaiting, sourceElementId } from './sources.tsx'
import { useConversationTexts } from './texts.ts'

interface Props {
  agentId: string
  sessionId: string
  message: Message
  agentName: string | undefined
  /** No message follows this one. */
  isLast: boolean
}

/** The service stores a reply as it was sent, and the sender may have requested HTML. */
const isHtml = (content: string) => /^<(?:p|h[1-6]|ul|ol|pre|blockquote|table|div)[ >].*<\/\w+>\s*$/s.test(content)

/** A reply with its sources, feedback and trace. */
export function Reply({ agentId, sessionId, message, agentName, isLast }: Props) {
  const texts = useConversationTexts().message
  const format = useFormat()
  const [isSeen, ref] = useSeen<HTMLLIElement>()
  const { id, content, createdAt } = message
  const place = { agentId, sessionId, messageId: id }
  const { data } = useMessage(place, isSeen)
  const known = data?.sources?.map(({ index }) => index).join(' ') ?? (data === undefined ? undefined : '')
  const citation = useCallback(
    (n: number): ReactNode => {
      // The placeholder has the final width.
      if (known === undefined) return <span className="mark">{n}</span>
      return known.split(' ').includes(String(n)) ? <Mark n={n} messageId={id} /> : `[${n}]`
    },
    [known, id],
  )
  return (
    <li ref={ref} className="conversations-message conversations-reply">
      <div className="conversations-text">
        <div className="conversations-by">
          <strong className="as-written">{agentName ?? 'AI'}</strong>
          <time dateTime={createdAt} title={format.time(createdAt)}>
            {format.ago(createdAt)}
          </time>
          {data?.turn === 'cancelled' && <Badge tone="warn">{texts.stoppedEarly}</Badge>}
        </div>
        {isHtml(content) ? <SafeHtml html={content} citation={citation} /> : <Markdown text={content} citation={citation} />}
        <div className="conversations-foot">
          <Feedback place={place} feedback={data?.feedback} isThere={data !== undefined} />
        </div>
        <Details place={place} isLast={isLast && isSeen} />
        {/* Loads late, so it must not shift the content above it. */}
        {data?.followUps !== undefined && data.followUps.length > 0 && <FollowUps followUps={data.followUps} />}
      </div>
      {data === undefined && <SourcesWaiting count={marksIn(content)} isBusy={isSeen} />}
      {data?.sources !== undefined && data.sources.length > 0 && (
        <Sources agentId={agentId} messageId={id} sources={data.sources} />
      )}
    </li>
  )
}

/** Number of different sources that a reply cites. */
const marksIn = (content: string) => new Set(content.match(/\[\d{1,2}\]/g)).size

/** A citation mark that scrolls to its source. */
function Mark({ n, messageId }: { n: number; messageId: string }) {
  const texts = useConversationTexts().message
  const go = () => {
    const source = document.getElementById(sourceElementId(messageId, n))
    source?.scrollIntoView({ block: 'nearest' })
    source?.focus({ preventScroll: true })
  }
  return (
    <button type="button" className="mark" aria-label={texts.source(n)} onClick={go}>
      {n}
    </button>
  )
}

function FollowUps({ followUps }: Required<Pick<MessageDetail, 'followUps'>>) {
  const texts = useConversationTexts().message
  return (
    <div className="conversations-follow-ups">
      <span>{texts.followUps}</span>
      <ul>
        {followUps.map(({ id, text }) => (
          <li key={id} className="as-written">
            {text}
          </li>
        ))}
      </ul>
    </div>
  )
}

const NEAR = '400px'

/** Whether an element has ever been near the window. Its data is fetched then, and not for a thousand messages at once. */
function useSeen<E extends Element>() {
  const [isSeen, setSeen] = useState(false)
  const ref = useRef<E>(null)
  useEffect(() => {
    if (isSeen) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setSeen(true), { rootMargin: NEAR })
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [isSeen])
  return [isSeen, ref] as const
}
