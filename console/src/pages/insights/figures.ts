import { parseDate } from '@internationalized/date'
import type { Insights } from '../../queries/insights.ts'
import type { Days } from '../../ui/date-range.tsx'

export type Day = Insights['days'][number]

/** Returns all days of a span, including days without conversations. */
export function everyDay({ from, to }: Days, days: readonly Day[]): Day[] {
  const known = new Map(days.map((day) => [day.date, day]))
  const all: Day[] = []
  for (let date = parseDate(from), last = parseDate(to); date.compare(last) <= 0; date = date.add({ days: 1 })) {
    const name = date.toString()
    all.push(
      known.get(name) ?? { date: name, turns: 0, sessions: 0, users: 0, tokensIn: 0, tokensOut: 0, cost: 0, latencyMs: null },
    )
  }
  return all
}

/** Returns the span of the same length right before this one. */
export function daysBefore({ from, to }: Days): Days {
  const [first, last] = [parseDate(from), parseDate(to)]
  const before = first.subtract({ days: 1 })
  return { from: before.subtract({ days: last.compare(first) }).toString(), to: before.toString() }
}

/** Totals of a span. Shares are null if there is nothing to divide by. */
export interface Totals {
  turns: number
  usersADay: number
  answered: number | null
  ratedGood: number | null
  ratings: number
  /** The mean of the daily medians, weighted by turns. */
  latencyMs: number | null
  tokens: number
  cost: number
}

export function totalsOf({ days, ratings, unanswered }: Insights, span: Days): Totals {
  const sum = (of: (day: Day) => number) => days.reduce((total, day) => total + of(day), 0)
  const length = parseDate(span.to).compare(parseDate(span.from)) + 1
  const turns = sum((day) => day.turns)
  const timed = days.filter((day) => day.latencyMs !== null)
  const timedTurns = timed.reduce((total, day) => total + day.turns, 0)
  const rated = ratings.up + ratings.down
  const open = unanswered.reduce((total, { count }) => total + count, 0)
  return {
    turns,
    usersADay: sum((day) => day.users) / length,
    answered: turns === 0 ? null : Math.max(0, 1 - open / turns),
    ratedGood: rated === 0 ? null : ratings.up / rated,
    ratings: rated,
    latencyMs: timedTurns === 0 ? null : timed.reduce((total, day) => total + day.latencyMs!.p50 * day.turns, 0) / timedTurns,
    tokens: sum((day) => day.tokensIn + day.tokensOut),
    cost: sum((day) => day.cost),
  }
}

/** Returns the relative change of a figure; undefined if there was no value before. */
export const changeOf = (now: number | null, before: number | null | undefined): number | undefined =>
  now === null || before == null || before === 0 ? undefined : now / before - 1
