import { useEffect } from 'react'
import { type Message, useOutcome, useRefreshHistory } from '../../queries/conversations.ts'
import { toFailure } from '../../queries/errors.ts'
import { useMessage } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { Note } from '../../ui/note.tsx'
import { Spinner } from '../../ui/progress.tsx'
import { useUiTexts } from '../../ui/texts.ts'
import { useConversationTexts } from './texts.ts'

interface Props {
  agentId: string
  sessionId: string
  message: Message
  /** The message has a reply. */
  isAnswered: boolean
}

/** A message of the user. If it has no reply, the state of its turn is shown. */
export function Question({ agentId, sessionId, message, isAnswered }: Props) {
  const texts = useConversationTexts().message
  const format = useFormat()
  return (
    <li className="conversations-message conversations-question">
      <div className="conversations-by">
        <strong>{texts.user}</strong>
        <time dateTime={message.createdAt} title={format.time(message.createdAt)}>
          {format.ago(message.createdAt)}
        </time>
      </div>
      <p className="conversations-said" dir="auto">
        {message.content}
      </p>
      {!isAnswered && <NoReply agentId={agentId} sessionId={sessionId} messageId={message.id} />}
    </li>
  )
}

function NoReply({ agentId, sessionId, messageId }: { agentId: string; sessionId: string; messageId: string }) {
  const texts = useConversationTexts().message
  const uiTexts = useUiTexts()
  const refresh = useRefreshHistory(agentId, sessionId)
  const { data } = useMessage({ agentId, sessionId, messageId })
  const turn = data?.turn
  const { error } = useOutcome(agentId, sessionId, messageId, turn === 'failed')
  const ran = turn === 'running'
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the turn ends, not before
  useEffect(() => (ran ? () => void refresh() : undefined), [ran])
  if (turn === 'running') {
    return (
      <Note>
        <span className="row">
          <Spinner /> {texts.running}
        </span>
      </Note>
    )
  }
  if (turn === 'cancelled') return <Note>{texts.cancelled}</Note>
  if (turn === 'failed' && error !== null) {
    const { code, message } = toFailure(error, uiTexts)
    return (
      <Note tone="bad" title={texts.failed}>
        <p className="as-written">{message}</p>
        <p className="muted mono">{code}</p>
      </Note>
    )
  }
  return null
}
