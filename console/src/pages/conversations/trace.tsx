import type { ReactNode } from 'react'
import type { MessageDetail, Trace } from 'repartee-client'
import { useFormat } from '../../texts/format.ts'
import { Status } from '../../ui/badge.tsx'
import { useConversationTexts } from './texts.ts'

/** What a turn kept of how its reply came about. */
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
      <dl>
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
      : ([[texts.search, [retrieval.mode, retrieval.reason].filter(Boolean).join(': ')]] as [string, ReactNode][])),
    [texts.citations, texts.citationsOf(format.number(citations.supported), format.number(citations.unsupported))],
    [texts.finish, texts.finishes[finish]],
  ]
}

/** Steps follow each other: each bar begins where the one before it ends. */
function Waterfall({ timings }: Pick<Trace, 'timings'>) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  const total = timings.reduce((sum, { ms }) => sum + ms, 0)
  const share = (ms: number) => `${total === 0 ? 0 : (ms / total) * 100}%`
  let from = 0
  return (
    <table className="conversations-waterfall">
      <caption>{texts.timings}</caption>
      <thead className="hidden-visually">
        <tr>
          <th scope="col">{texts.step}</th>
          <th scope="col">{texts.duration}</th>
        </tr>
      </thead>
      <tbody>
        {timings.map(({ step, ms }, i) => {
          const begins = from
          from += ms
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step may come twice, and has its place
            <tr key={i}>
              <th scope="row">{texts.steps[step as keyof typeof texts.steps] ?? step}</th>
              <td>
                <span className="conversations-lane" aria-hidden="true">
                  <span style={{ insetInlineStart: share(begins), inlineSize: share(ms) }} />
                </span>
                <span className="numbers">{format.ms(ms)}</span>
              </td>
            </tr>
          )
        })}
        <tr className="conversations-waterfall-total">
          <th scope="row">{texts.total}</th>
          <td>
            <span className="conversations-lane" aria-hidden="true" />
            <span className="numbers">{format.ms(total)}</span>
          </td>
        </tr>
      </tbody>
    </table>
  )
}

function Attempts({ attempts }: Pick<Trace, 'attempts'>) {
  const texts = useConversationTexts().trace
  const format = useFormat()
  return (
    <div className="conversations-attempts">
      <p className="conversations-trace-head">{texts.attempts}</p>
      <ul aria-label={texts.attempts}>
        {attempts.map(({ model, outcome, ms }, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a model may be called twice, and each call has its place
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
