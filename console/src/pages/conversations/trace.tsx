import type { ReactNode } from 'react'
import type { MessageDetail, Trace } from '../../queries/replies.ts'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { useConversationTexts } from './texts.ts'
import { Waterfall } from './waterfall.tsx'

/** Shows the stored trace of a turn. */
export function TraceView({ reply }: { reply: MessageDetail }) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  const { model, usage, trace } = reply
  if (model === undefined) return <p className="muted">{texts.imported}</p>
  const facts: [name: string, value: ReactNode][] = [
    [
      texts.model,
      <span key="model" className="mono">
        {model}
      </span>,
    ],
  ]
  if (usage !== undefined) {
    facts.push([texts.tokens, texts.tokensOf(format.number(usage.tokensIn), format.number(usage.tokensOut))])
    if (usage.cost !== null) facts.push([texts.cost, format.money(usage.cost)])
  }
  if (trace !== undefined) facts.push(...factsOf(trace, texts, format))
  return (
    <div className="conversations-trace">
      <dl className="fact-lines">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {trace === undefined ? (
        <p className="muted">{texts.none}</p>
      ) : (
        <>
          <Waterfall timings={trace.timings} />
          {trace.attempts.length > 0 && <Attempts attempts={trace.attempts} />}
          {trace.passages.length > 0 && <Passages passages={trace.passages} />}
        </>
      )}
    </div>
  )
}

function factsOf(
  trace: Trace,
  texts: ReturnType<typeof useConversationTexts>['trace'],
  format: ReturnType<typeof useFormat>,
): [string, ReactNode][] {
  const { grounding, query, retrieval, citations, finish } = trace
  return [
    [
      texts.confidence,
      <span key="confidence" className="row">
        <Status tone={grounding.answered ? 'good' : 'warn'}>{grounding.answered ? texts.answered : texts.notAnswered}</Status>
        <span className="numbers muted">{format.percent(grounding.confidence)}</span>
      </span>,
    ],
    [
      texts.query,
      <span key="query" className="as-written">
        {query}
      </span>,
    ],
    ...(retrieval === undefined
      ? []
      : ([[texts.search, [texts.modes[retrieval.mode], retrieval.reason].filter(Boolean).join(': ')]] as [string, ReactNode][])),
    [texts.citations, texts.citationsOf(format.number(citations.supported), format.number(citations.unsupported))],
    [texts.finish, texts.finishes[finish]],
  ]
}

function Attempts({ attempts }: Pick<Trace, 'attempts'>) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  return (
    <div className="conversations-attempts">
      <p className="conversations-trace-head">{texts.attempts}</p>
      <ul aria-label={texts.attempts}>
        {attempts.map(({ model, outcome, ms }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model may be called twice, and calls have no id
          <li key={i} className="row spread">
            <span className="mono">{model}</span>
            <span className="row">
              <Status tone={outcome === 'replied' ? 'good' : 'bad'}>{texts.outcomes[outcome]}</Status>
              <span className="numbers muted">{format.ms(ms)}</span>
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Passages({ passages }: Pick<Trace, 'passages'>) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  return (
    <div className="conversations-attempts">
      <p className="conversations-trace-head">{texts.passages}</p>
      <ol aria-label={texts.passages}>
        {passages.map(({ passageId, title, score }) => (
          <li key={passageId} className="row spread">
            <span className="as-written clip">{title}</span>
            <span className="numbers muted">{format.number(Math.round(score * 100) / 100)}</span>
          </li>
        ))}
      </ol>
    </div>
  )
}
