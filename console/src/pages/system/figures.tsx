import { type Sample, sumOf, type useMetrics } from '../../queries/metrics.ts'
import { useFormat } from '../../texts/format.ts'
import { Card } from '../../ui/card.tsx'
import { ErrorNote } from '../../ui/error-note.tsx'
import { Loading, Skeleton } from '../../ui/skeleton.tsx'
import { useSystemTexts } from './texts.ts'

interface Figure {
  label: string
  value: string
  hints: string[]
}

/** Figures from the metrics of the process. */
export function Figures({ metrics: { data, error, refetch } }: { metrics: ReturnType<typeof useMetrics> }) {
  const texts = useSystemTexts()
  const figures = useFigures(data ?? [])
  const list = (
    <dl className="system-figures">
      {figures.map(({ label, value, hints }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd className="system-value numbers">{data === undefined ? <Skeleton width={6} /> : value}</dd>
          {hints.map((hint) => (
            <dd key={hint} className="system-hint">
              {data === undefined ? <Skeleton width={12} /> : hint}
            </dd>
          ))}
        </div>
      ))}
    </dl>
  )
  return (
    <Card title={texts.figures} description={texts.figuresText}>
      {error !== null && data === undefined ? (
        <ErrorNote error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading>{list}</Loading>
      ) : (
        list
      )}
    </Card>
  )
}

function useFigures(samples: readonly Sample[]): Figure[] {
  const texts = useSystemTexts()
  const format = useFormat()
  const requests = 'repartee_http_request_duration_seconds_count'
  const turns = 'repartee_turn_duration_seconds_count'
  const calls = 'repartee_model_call_duration_seconds_count'
  const turnCount = sumOf(samples, turns)
  const meanMs = turnCount === 0 ? 0 : (sumOf(samples, 'repartee_turn_duration_seconds_sum') / turnCount) * 1_000
  const isNotOk = ({ outcome }: Sample['labels']) => outcome !== 'ok'
  const ms = (name: string) => format.ms(sumOf(samples, name) * 1_000)
  return [
    {
      label: texts.requests,
      value: format.number(sumOf(samples, requests)),
      hints: [texts.requestsFailed(format.number(sumOf(samples, requests, ({ status }) => status?.startsWith('5') ?? false)))],
    },
    {
      label: texts.turns,
      value: format.number(turnCount),
      hints: [texts.turnsMean(format.ms(meanMs)), texts.turnsFailed(format.number(sumOf(samples, turns, isNotOk)))],
    },
    {
      label: texts.calls,
      value: format.number(sumOf(samples, calls)),
      hints: [texts.callsFailed(format.number(sumOf(samples, calls, isNotOk)))],
    },
    {
      label: texts.tokens,
      // Cached tokens are already included in the input tokens.
      value: format.compact(sumOf(samples, 'repartee_model_tokens_total', ({ kind }) => kind !== 'cached')),
      hints: [texts.cost(format.money(sumOf(samples, 'repartee_model_cost_dollars_total')))],
    },
    {
      label: texts.delay,
      value: ms('nodejs_eventloop_lag_p99_seconds'),
      hints: [texts.delayText(ms('nodejs_eventloop_lag_max_seconds'))],
    },
    {
      label: texts.memory,
      value: format.bytes(sumOf(samples, 'process_resident_memory_bytes')),
      hints: [texts.heap(format.bytes(sumOf(samples, 'nodejs_heap_size_used_bytes')))],
    },
  ]
}
