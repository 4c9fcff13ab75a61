import type { ReactNode } from 'react'
import type { ChatMessage } from 'repartee-client'
import type { MessagePlace, Trace, Usage } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Note } from '../../ui/note.tsx'
import { Meter } from '../../ui/progress.tsx'
import { Waterfall } from '../conversations/waterfall.tsx'
import { isHtml } from './plain-text.ts'
import { ScoreTable } from './score-table.tsx'
import { usePlaygroundTexts } from './texts.ts'
import type { Turn } from './turns.ts'

interface DetailsProps {
  isOpen: boolean
  onClose(): void
  turn: Turn
  reply: ChatMessage
  place: MessagePlace
}

/** Shows the trace of a reply. */
export function Details({ isOpen, onClose, turn, reply, place }: DetailsProps) {
  const texts = usePlaygroundTexts().details
  const { trace, usage, content } = reply
  return (
    <Drawer title={texts.title} isOpen={isOpen} onClose={onClose}>
      {trace === undefined && <Note>{texts.none}</Note>}
      {trace !== undefined && (
        <>
          <Part title={texts.grounding}>
            <Grounding trace={trace} />
          </Part>
          <Part title={texts.passages}>
            <ScoreTable agentId={place.agentId} passages={trace.passages} />
          </Part>
          <Part title={texts.timings}>
            <div className="parts-small">
              <Waterfall timings={trace.timings} hidesCaption />
            </div>
          </Part>
          <Part title={texts.attempts}>
            <Attempts trace={trace} />
          </Part>
        </>
      )}
      {usage !== undefined && (
        <Part title={texts.usage}>
          <UsageFacts usage={usage} />
        </Part>
      )}
      <Part title={texts.content}>
        <CodeBlock
          code={content}
          label={isHtml(content) ? 'HTML' : 'Markdown'}
          language={isHtml(content) ? 'html' : 'markdown'}
        />
      </Part>
      <Part title={texts.ids}>
        <Facts
          facts={[
            [texts.messageId, <Id key="m" id={turn.question.id} />],
            [texts.replyId, <Id key="r" id={reply.id} />],
            [texts.sessionId, <Id key="s" id={place.sessionId} />],
          ]}
        />
      </Part>
    </Drawer>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="playground-part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

const Facts = ({ facts }: { facts: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="fact-lines">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

const Id = ({ id }: { id: string }) => (
  <span className="fact-id">
    <bdi className="mono">{id}</bdi>
    <CopyButton text={id} />
  </span>
)

function Grounding({ trace: { grounding, query, retrieval, citations } }: { trace: Trace }) {
  const texts = usePlaygroundTexts().details
  const { answered, confidence } = grounding
  const facts: [string, ReactNode][] = [
    [texts.query, <bdi key="q">{query === '' ? '–' : query}</bdi>],
    [texts.citations, texts.checked(citations.supported, citations.unsupported, citations.unchecked)],
  ]
  if (retrieval !== undefined) {
    const words = [texts.modes[retrieval.mode], retrieval.reranked ? texts.reranked : '', retrieval.reason ?? '']
    facts.push([texts.mode, words.filter((word) => word !== '').join(' · ')])
  }
  return (
    <div className="stack playground-grounding">
      <Status tone={answered ? 'good' : 'warn'}>{answered ? texts.answered : texts.unanswered}</Status>
      <div className="playground-confidence">
        <Meter label={texts.confidence} value={confidence} warns={false} />
      </div>
      <Facts facts={facts} />
    </div>
  )
}

function UsageFacts({ usage: { tokensIn, tokensOut, tokensCached, cost } }: { usage: Usage }) {
  const texts = usePlaygroundTexts().details
  const format = useFormat()
  return (
    <Facts
      facts={[
        [texts.tokensIn, format.number(tokensIn)],
        [texts.tokensCached, format.number(tokensCached)],
        [texts.tokensOut, format.number(tokensOut)],
        [texts.cost, cost === null ? texts.noCost : format.money(cost)],
      ]}
    />
  )
}

function Attempts({ trace: { attempts, finish } }: { trace: Trace }) {
  const texts = usePlaygroundTexts().details
  const format = useFormat()
  return (
    <>
      {attempts.length === 0 ? (
        <p className="muted">{texts.noAttempts}</p>
      ) : (
        <table className="playground-table">
          <thead>
            <tr>
              <th scope="col">{texts.model}</th>
              <th scope="col">{texts.outcome}</th>
              <th scope="col" className="playground-number">
                {texts.time}
              </th>
            </tr>
          </thead>
          <tbody>
            {attempts.map(({ model, outcome, ms }, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: calls have no id, only a position
              <tr key={place}>
                <td>
                  <bdi className="mono">{model}</bdi>
                </td>
                <td>
                  <Status tone={outcome === 'replied' ? 'good' : 'bad'}>{texts.outcomes[outcome]}</Status>
                </td>
                <td className="playground-number numbers">{format.ms(ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <p className="muted">
        {texts.finish}: {texts.finishes[finish]}
      </p>
    </>
  )
}
