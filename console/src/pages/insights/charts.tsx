import type { Insights } from '../../queries/insights.ts'
import { useFormat } from '../../texts/format.ts'
import { Card } from '../../ui/card.tsx'
import { Chart } from '../../ui/chart.tsx'
import type { Days } from '../../ui/date-range.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Day, everyDay } from './figures.ts'
import { useInsightTexts } from './texts.ts'

export function Charts({ insights, days }: { insights: Insights; days: Days }) {
  const texts = useInsightTexts().charts
  const format = useFormat()
  const all = everyDay(days, insights.days)
  const series = (id: string, label: string, of: (day: Day) => number | null) => ({ id, label, values: all.map(of) })
  const shared = { points: all.map(({ date }) => format.day(date)), pointLabel: texts.day }
  return (
    <div className="insights-charts">
      <Card title={texts.turns}>
        <Chart
          {...shared}
          label={texts.turns}
          kind="bar"
          series={[series('turns', texts.turns, (day) => day.turns)]}
          format={format.number}
        />
      </Card>
      <Card title={texts.people}>
        <Chart
          {...shared}
          label={texts.people}
          kind="line"
          series={[series('users', texts.users, (day) => day.users), series('sessions', texts.sessions, (day) => day.sessions)]}
          format={format.number}
        />
      </Card>
      <Card title={texts.latency}>
        <Chart
          {...shared}
          label={texts.latency}
          kind="line"
          series={[
            series('p50', texts.p50, (day) => day.latencyMs?.p50 ?? null),
            series('p95', texts.p95, (day) => day.latencyMs?.p95 ?? null),
          ]}
          format={format.ms}
        />
      </Card>
      <Card title={texts.ratings}>
        <Ratings {...insights.ratings} />
      </Card>
      <Card title={texts.tokens}>
        <Chart
          {...shared}
          label={texts.tokens}
          kind="bar"
          series={[series('in', texts.tokensIn, (day) => day.tokensIn), series('out', texts.tokensOut, (day) => day.tokensOut)]}
          format={format.compact}
        />
      </Card>
      <Card title={texts.cost}>
        {all.some(({ cost }) => cost > 0) ? (
          <Chart
            {...shared}
            label={texts.cost}
            kind="bar"
            series={[series('cost', texts.cost, (day) => day.cost)]}
            format={format.money}
          />
        ) : (
          <p className="muted">{texts.noCost}</p>
        )}
      </Card>
    </div>
  )
}

/** The service reports the total number of ratings, not the number per day. */
function Ratings({ up, down }: Insights['ratings']) {
  const texts = useInsightTexts().charts
  const format = useFormat()
  const total = up + down
  if (total === 0) return <p className="muted">{texts.noRatings}</p>
  return (
    <div className="insights-ratings">
      <div className="insights-split" aria-hidden="true">
        <span className="insights-up" style={{ flexGrow: up }} />
        <span className="insights-down" style={{ flexGrow: down }} />
      </div>
      <dl>
        {(
          [
            ['thumbUp', texts.up, up],
            ['thumbDown', texts.down, down],
          ] as const
        ).map(([icon, name, n]) => (
          <div key={icon}>
            <dt>
              <Icon name={icon} /> {name}
            </dt>
            <dd className="numbers">
              {format.number(n)} <span className="muted">{format.percent(n / total)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
