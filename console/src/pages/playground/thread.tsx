import type { Conversation, ConversationState } from 'repartee-client'
import { useAgent } from '../../queries/agents.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { toPlainText } from './plain-text.ts'
import { usePlaygroundTexts } from './texts.ts'
import { TurnView } from './turn-view.tsx'
import { isWriting, toTurns } from './turns.ts'
import { useEnd } from './use-end.ts'

interface ThreadProps {
  agentId: string
  conversation: Conversation
  state: ConversationState
  /** Number of messages sent here. */
  sent: number
  onSend(text: string): void
}

/** The messages so far. */
export function Thread({ agentId, conversation, state, sent, onSend }: ThreadProps) {
  const texts = usePlaygroundTexts()
  const { box, content, isAtEnd, goToEnd, onScroll } = useEnd(sent)
  const { messages, sessionId, status, error, isLoaded } = state
  const turns = toTurns(messages)
  return (
    <div className="playground-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard */}
      <section ref={box} className="playground-thread" aria-label={texts.thread} tabIndex={0} onScroll={onScroll}>
        <div ref={content} className="playground-turns">
          {status === 'loading' ? (
            <Loading>
              <Skeleton width={50} lines={6} />
            </Loading>
          ) : !isLoaded && error !== undefined ? (
            <ErrorNote title={texts.failedLoad} error={error} onRetry={() => void conversation.open()} />
          ) : (
            <>
              <Beginning agentId={agentId} isEmpty={turns.length === 0} onSend={onSend} />
              {turns.map((turn, place) => (
                <TurnView
                  key={turn.question.key}
                  turn={turn}
                  agentId={agentId}
                  sessionId={sessionId}
                  isBroken={state.isBroken}
                  isLast={place === turns.length - 1}
                  onSend={onSend}
                  onRegenerate={() => void conversation.regenerate()}
                />
              ))}
            </>
          )}
        </div>
      </section>
      {!isAtEnd && (
        <Button size="small" icon="down" className="playground-to-end" onPress={goToEnd}>
          {texts.toEnd}
        </Button>
      )}
      <Announcer state={state} />
    </div>
  )
}

/** The greeting and the starters, before the first message. */
function Beginning({ agentId, isEmpty, onSend }: { agentId: string; isEmpty: boolean; onSend(text: string): void }) {
  const texts = usePlaygroundTexts()
  const { data: agent } = useAgent(agentId)
  if (agent === undefined) return null
  const { greeting, starters } = agent
  return (
    <>
      {greeting !== '' && (
        <div className="playground-reply">
          <Markdown text={greeting} />
        </div>
      )}
      {isEmpty && greeting === '' && (
        <EmptyState icon="playground" title={texts.empty}>
          {texts.emptyText}
        </EmptyState>
      )}
      {isEmpty && starters.length > 0 && (
        <ul className="playground-suggestions" aria-label={texts.starters}>
          {starters.map((starter) => (
            <li key={starter}>
              <Button size="small" onPress={() => onSend(starter)}>
                <bdi>{starter}</bdi>
              </Button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

/** Announces to screen readers, once each, that the agent is writing and then its reply. */
function Announcer({ state }: { state: ConversationState }) {
  const texts = usePlaygroundTexts()
  const last = state.messages.at(-1)
  let said = ''
  if (state.isBroken) said = texts.turn.lost
  else if (isWriting(state)) said = texts.writing
  else if (last?.role === 'USER' && last.turn !== 'failed') said = texts.stoppedNow
  else if (last?.generation !== undefined) said = `${texts.replied} ${toPlainText(last.content)}`
  return (
    <p className="hidden-visually" role="status">
      {said}
    </p>
  )
}
