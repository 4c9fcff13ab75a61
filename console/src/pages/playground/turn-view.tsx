import { memo } from 'react'
import { Button } from '../../ui/button.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Note } from '../../ui/note.tsx'
import { ReplyView } from './reply-view.tsx'
import { usePlaygroundTexts } from './texts.ts'
import type { Turn } from './turns.ts'

interface TurnViewProps {
  turn: Turn
  agentId: string
  sessionId: string | undefined
  isBroken: boolean
  isLast: boolean
  onSend(text: string): void
  onRegenerate(): void
}

/** A message of the user with its reply or error. */
export const TurnView = memo(
  function TurnView({ turn, agentId, sessionId, isBroken, isLast, onSend, onRegenerate }: TurnViewProps) {
    const texts = usePlaygroundTexts()
    const { question, reply } = turn
    const { content: text, error } = question
    const isGrowing = question.turn === 'running' || reply?.turn === 'running'
    const isFailed = question.turn === 'failed'
    const again = isLast && (
      <Button size="small" icon="refresh" onPress={() => onSend(text)}>
        {texts.turn.again}
      </Button>
    )
    return (
      <div className="playground-turn">
        <div className="playground-message">
          <span className="hidden-visually">{texts.you}: </span>
          <p className="playground-words" dir="auto">
            {text}
          </p>
        </div>
        {isGrowing && <Growing text={reply?.content ?? ''} />}
        {!isGrowing && reply !== undefined && sessionId !== undefined && (
          <ReplyView
            turn={turn}
            reply={reply}
            place={{ agentId, sessionId, messageId: reply.id }}
            isLast={isLast}
            onSend={onSend}
            onRegenerate={onRegenerate}
          />
        )}
        {isGrowing && isBroken && <Note tone="warn">{texts.turn.lost}</Note>}
        {!isGrowing && !isFailed && reply === undefined && <Note actions={again}>{texts.turn.noReply}</Note>}
        {isFailed && error === undefined && (
          <Note tone="bad" actions={again}>
            {texts.turn.failedKept}
          </Note>
        )}
        {!isGrowing && error !== undefined && (
          <ErrorNote title={reply === undefined ? texts.turn.failed : texts.turn.anewFailed} error={error} hidesDetails />
        )}
        {isFailed && error !== undefined && <div className="row">{again}</div>}
      </div>
    )
  },
  // The callbacks are not compared: each new instance does the same.
  ({ turn: before, ...props }, { turn, isLast, sessionId }) =>
    before.question === turn.question && before.reply === turn.reply && !props.isLast && !isLast && props.sessionId === sessionId,
)

/** A reply that is still being generated. Its citation marks get their sources when it is complete. */
function Growing({ text }: { text: string }) {
  const texts = usePlaygroundTexts()
  return (
    <div className="playground-reply">
      <span className="hidden-visually">{texts.agent}: </span>
      {text !== '' && <Markdown text={text} citation={toPlainMark} />}
      <span className="playground-dots" aria-hidden="true">
        <span />
        <span />
        <span />
      </span>
    </div>
  )
}

const toPlainMark = (n: number) => <span className="mark">{n}</span>
