import { useAgentName } from '../../queries/agents.ts'
import { useHistory, useListed, useSessionHead, useSessions } from '../../queries/conversations.ts'
import { isNotFound } from '../../queries/errors.ts'
import { useFormat } from '../../texts/format.ts'
import { LinkButton } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { BackLink, Link } from '../../ui/link.tsx'
import { Page } from '../../ui/page.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ConversationActions } from './actions.tsx'
import { hrefOfUser, useFilter } from './filter.tsx'
import { History } from './history.tsx'
import { nameOf, shortId } from './names.ts'
import { useConversationTexts } from './texts.ts'

/** Shows one conversation. */
export function Conversation({ agentId, sessionId }: { agentId: string; sessionId: string }) {
  const texts = useConversationTexts()
  const format = useFormat()
  const { filter, search } = useFilter()
  const agentName = useAgentName(agentId)
  const { data: head, error, refetch } = useSessionHead(agentId, sessionId)
  const { messages, hasNextPage, isSuccess } = useHistory(agentId, sessionId)
  const lastMessageAt = isSuccess && !hasNextPage ? (messages.at(-1)?.createdAt ?? head?.createdAt) : undefined
  const { sessions } = useSessions(agentId, filter)
  const atHand = sessions.find(({ id }) => id === sessionId)
  const listed = useListed(agentId, sessionId, atHand, lastMessageAt)
  const list = `/agents/${agentId}/conversations${search}`
  const written = head?.name ?? listed?.name
  const name = written === undefined ? texts.one.title : nameOf(written, format)
  const above = <BackLink href={list}>{texts.one.all}</BackLink>
  if (isNotFound(error)) {
    return (
      <Page title={texts.one.notFound} above={above}>
        <EmptyState
          icon="conversations"
          title={texts.one.notFound}
          actions={<LinkButton href={list}>{texts.one.all}</LinkButton>}
        >
          {texts.one.notFoundText}
        </EmptyState>
      </Page>
    )
  }
  const facts =
    head === undefined ? (
      <Skeleton width={36} />
    ) : (
      <span className="conversations-facts">
        {listed !== undefined && (
          <span>
            {texts.one.userOf}{' '}
            <Link href={hrefOfUser(agentId, listed.userSessionId)}>
              <span className="mono" dir="ltr" title={listed.userSessionId}>
                {shortId(listed.userSessionId)}
              </span>
            </Link>
          </span>
        )}
        <time dateTime={head.createdAt} title={format.time(head.createdAt)}>
          {texts.one.begun(format.ago(head.createdAt))}
        </time>
      </span>
    )
  const actions = head !== undefined && (
    <ConversationActions agentId={agentId} head={head} userId={listed?.userSessionId} list={list} />
  )
  return (
    <Page title={name} of={agentName} above={above} description={facts} width="wide" {...(actions && { actions })}>
      {error !== null ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : (
        <History agentId={agentId} sessionId={sessionId} agentName={agentName} />
      )}
    </Page>
  )
}
