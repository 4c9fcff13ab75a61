import { useHistory } from '../../queries/conversations.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { Question } from './question.tsx'
import { Reply } from './reply.tsx'
import { useConversationTexts } from './texts.ts'

interface Props {
  agentId: string
  sessionId: string
  agentName: string | undefined
}

/** The messages, oldest first. More are loaded on request. */
export function History({ agentId, sessionId, agentName }: Props) {
  const texts = useConversationTexts().one
  const { messages, isPending, error, refetch, more } = useHistory(agentId, sessionId)
  if (isPending) return <Waiting />
  if (error !== null && messages.length === 0) return <ErrorNote error={error} onRetry={() => void refetch()} />
  if (messages.length === 0) {
    return (
      <EmptyState icon="conversations" title={texts.empty}>
        {texts.emptyText}
      </EmptyState>
    )
  }
  return (
    <>
      <ol className="conversations-messages" aria-label={texts.messages}>
        {messages.map((message, i) => {
          const next = messages[i + 1]
          const shared = { agentId, sessionId, message }
          return message.role === 'USER' ? (
            <Question key={message.id} {...shared} isAnswered={next === undefined ? more.hasMore : next.role === 'AI'} />
          ) : (
            <Reply key={message.id} {...shared} agentName={agentName} isLast={next === undefined && !more.hasMore} />
          )
        })}
      </ol>
      {more.hasMore && <LoadMore {...more} />}
    </>
  )
}

const Waiting = () => (
  <Loading>
    <div className="conversations-waiting">
      {[28, 60, 20, 60].map((width, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: skeletons have no id, only a position
        <Skeleton key={i} width={width} lines={i % 2 === 0 ? 1 : 4} />
      ))}
    </div>
  </Loading>
)
