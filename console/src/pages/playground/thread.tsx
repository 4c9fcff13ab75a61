import { useAgent } from '../../queries/agents.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import type { Conversation, Talk, Wishes } from './conversation.ts'
import { toPlainText } from './plain-text.ts'
import { usePlaygroundTexts } from './texts.ts'
import { TurnView } from './turn-view.tsx'
import { useEnd } from './use-end.ts'

interface ThreadProps {
  agentId: string
  conversation: Conversation
  talk: Talk
  wishes: Wishes
  /** Number of messages sent here. */
  sent: number
  onSend(text: string): void
}

/** The messages so far. */
export function Thread({ agentId, conversation, talk, wishes, sent, onSend }: ThreadProps) {
  const texts = usePlaygroundTexts()
  const { box, content, isAtEnd, goToEnd, onScroll } = useEnd(sent)
  const { turns, session } = talk
  return (
    <div className="playground-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by the keyboard */}
      <section ref={box} className="playground-thread" aria-label={texts.thread} tabIndex={0} onScroll={onScroll}>
        <div ref={content} className="playground-turns">
          {talk.isLoading ? (
            <Loading>
              <Skeleton width={50} lines={6} />
            </Loading>
          ) : talk.loadError !== undefined ? (
            <ErrorNote title={texts.failedLoad} error={talk.loadError} onRetry={() => conversation.reopen()} />
          ) : (
            <>
              <Beginning agentId={agentId} isEmpty={turns.length === 0} onSend={onSend} />
              {turns.map((turn, place) => (
                <TurnView
                  key={turn.key}
                  turn={turn}
                  agentId={agentId}
                  sessionId={session?.id}
                  isLast={place === turns.length - 1}
                  onSend={onSend}
                  onAgain={() => conversation.again(turn.key, wishes)}
                  onRegenerate={() => conversation.regenerate(turn.key, wishes)}
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
      <Announcer talk={talk} />
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
function Announcer({ talk: { turns } }: { talk: Talk }) {
  const texts = usePlaygroundTexts()
  const last = turns.at(-1)
  let said = ''
  if (last?.state === 'sending' || last?.state === 'replying') said = texts.writing
  else if (last?.state === 'lost') said = texts.turn.lost
  else if (last?.state === 'stopped') said = texts.stoppedNow
  else if (last?.reply !== undefined && !(last.reply.isKept && last.reply.made === 0))
    said = `${texts.replied} ${toPlainText(last.reply.content)}`
  return (
    <p className="hidden-visually" role="status">
      {said}
    </p>
  )
}
