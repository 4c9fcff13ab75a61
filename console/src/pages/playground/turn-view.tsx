import { memo } from 'react'
import { Button } from '../../ui/button.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Note } from '../../ui/note.tsx'
import { isBusy, type Turn } from './conversation.ts'
import { ReplyView } from './reply-view.tsx'
import { usePlaygroundTexts } from './texts.ts'

interface TurnViewProps {
  turn: Turn
  agentId: string
  sessionId: string | undefined
  isLast: boolean
  onSend(text: string): void
  onAgain(): void
  onRegenerate(): void
}

/** A message of the user with its reply or error. */
export const TurnView = memo(
  function TurnView({ turn, agentId, sessionId, isLast, onSend, onAgain, onRegenerate }: TurnViewProps) {
    const texts = usePlaygroundTexts()
    const { text, state, growing, reply, error } = turn
    const isGrowing = isBusy(turn)
    const again = isLast && (
      <Button size="small" icon="refresh" onPress={onAgain}>
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
        {isGrowing && <Growing text={growing} />}
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
        {state === 'lost' && <Note tone="warn">{texts.turn.lost}</Note>}
        {state === 'stopped' && <Note actions={again}>{texts.turn.noReply}</Note>}
        {state === 'failed' && error === undefined && (
          <Note tone="bad" actions={again}>
            {texts.turn.failedKept}
          </Note>
        )}
        {!isGrowing && error !== undefined && (
          <ErrorNote title={reply === undefined ? texts.turn.failed : texts.turn.anewFailed} error={error} hidesDetails />
        )}
        {state === 'failed' && error !== undefined && <div className="row">{again}</div>}
      </div>
    )
  },
  // The callbacks are not compared: each new instance does the same.
  (before, now) => before.turn === now.turn && before.isLast === now.isLast && before.sessionId === now.sessionId && !now.isLast,
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
