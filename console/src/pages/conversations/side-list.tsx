import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import { useSessions } from '../../queries/conversations.ts'
import { useFormat } from '../../texts/format.ts'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { FilterBar, useFilter } from './filter.tsx'
import { hrefOf, nameOf, shortId } from './names.ts'
import { useConversationTexts } from './texts.ts'

/** The other conversations, next to the open one; hidden on narrow screens. */
export function SideList({ agentId, sessionId }: { agentId: string; sessionId: string }) {
  const texts = useConversationTexts()
  const format = useFormat()
  const { filter, search } = useFilter()
  const { sessions, isPending, error, refetch, more } = useSessions(agentId, filter)
  const current = useRef<HTMLAnchorElement>(null)
  const isThere = sessions.length > 0
  useEffect(() => {
    if (isThere) current.current?.scrollIntoView({ block: 'nearest' })
  }, [isThere])
  return (
    <nav className="conversations-side" aria-label={texts.title}>
      <FilterBar />
      {error !== null && !isThere ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : isPending ? (
        <SkeletonRows rows={10} />
      ) : (
        <ul>
          {sessions.map(({ id, name, userSessionId, totalMessages, lastMessageAt }) => (
            <li key={id}>
              <Link
                href={hrefOf(agentId, id, search)}
                className="conversations-item"
                {...(id === sessionId && { 'aria-current': 'page', ref: current })}
              >
                <span className="as-written clip-two conversations-item-name">{nameOf(name, format)}</span>
                <span className="conversations-item-facts">
                  <span className="mono" dir="ltr">
                    {shortId(userSessionId)}
                  </span>
                  <span>{texts.list.count(totalMessages)}</span>
                  <time dateTime={lastMessageAt} title={format.time(lastMessageAt)}>
                    {format.ago(lastMessageAt)}
                  </time>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {isThere && <LoadMore {...more} />}
      {!isPending && !isThere && error === null && <p className="muted conversations-none">{texts.list.none}</p>}
    </nav>
  )
}
