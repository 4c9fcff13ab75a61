import { type Format, useFormat } from '../../texts/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { changeOf, type Totals } from './figures.ts'
import { useInsightTexts } from './texts.ts'

interface Tile {
  label: string
  value: string
  text: string
  change: number | undefined
  /** The desirable direction of change; unset if neither is better. */
  better?: 'more' | 'less'
}

type Texts = ReturnType<typeof useInsightTexts>

/** Totals of a time span, each compared with the previous span. */
export function TotalTiles({ now, before }: { now: Totals; before: Totals | undefined }) {
  const texts = useInsightTexts()
  const format = useFormat()
  return (
    <dl className="insights-tiles" aria-label={texts.totals}>
      {tilesOf(now, before, texts, format).map(({ label, value, text, change, better }) => (
        <div key={label} className="insights-tile">
          <dt>{label}</dt>
          <dd className="insights-value numbers">{value}</dd>
          <dd className="insights-under">
            {change === undefined ? <span className="insights-change" /> : <Change change={change} better={better} />}
            <span>{text}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function tilesOf(now: Totals, before: Totals | undefined, texts: Texts, format: Format): Tile[] {
  const share = (value: number | null) => (value === null ? texts.none : format.percent(value))
  const open = now.answered === null ? 0 : Math.round(now.turns * (1 - now.answered))
  return [
    { label: texts.turns, value: format.number(now.turns), text: '', change: changeOf(now.turns, before?.turns), better: 'more' },
    {
      label: texts.usersADay,
      value: format.number(Math.round(now.usersADay * 10) / 10),
      text: '',
      change: changeOf(now.usersADay, before?.usersADay),
      better: 'more',
    },
    {
      label: texts.answered,
      value: share(now.answered),
      text: texts.answeredText(open),
      change: changeOf(now.answered, before?.answered),
      better: 'more',
    },
    {
      label: texts.ratedGood,
      value: share(now.ratedGood),
      text: texts.ratings(now.ratings),
      change: changeOf(now.ratedGood, before?.ratedGood),
      better: 'more',
    },
    {
      label: texts.latency,
      value: now.latencyMs === null ? texts.none : format.ms(now.latencyMs),
      text: texts.latencyText,
      change: changeOf(now.latencyMs, before?.latencyMs),
      better: 'less',
    },
    {
      label: texts.tokens,
      value: format.compact(now.tokens),
      text: now.cost > 0 ? texts.cost(format.money(now.cost)) : '',
      change: changeOf(now.tokens, before?.tokens),
    },
  ]
}

/** A smaller change counts as no change. */
const LEAST = 0.005

function Change({ change, better }: { change: number; better: Tile['better'] }) {
  const texts = useInsightTexts()
  const format = useFormat()
  const share = format.percent(Math.abs(change))
  const isSame = Math.abs(change) < LEAST
  const tone = isSame || better === undefined ? 'even' : change > 0 === (better === 'more') ? 'good' : 'bad'
  const words = isSame ? texts.same : change > 0 ? texts.more(share) : texts.less(share)
  return (
    <span className={`insights-change insights-${tone}`} title={words}>
      <Icon name={isSame ? 'minus' : change > 0 ? 'up' : 'down'} size={12} />
      <span aria-hidden="true">{share}</span>
      <span className="hidden-visually">{words}</span>
    </span>
  )
}
