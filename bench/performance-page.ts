import { readFileSync } from 'node:fs'
import { type Panel, plot } from '../scripts/plot.ts'
import { type Figure, whatOf } from './figures.ts'
import { goals } from './goals.ts'
import { type Results, readResults, shown } from './report.ts'
import type { Engine } from './stage.ts'

const PAGE = new URL('../docs/performance.md', import.meta.url)
/** The published figures: the last run made for the documentation. */
export const PUBLISHED = new URL('results/published.json', import.meta.url)
const SEARCHED = [1_000, 10_000, 100_000, 1_000_000]

const results = (): Results => readResults(PUBLISHED) ?? { machine: '', node: '', figures: {} }

/** Returns docs/performance.md with updated tables between its marks. */
export function performancePage(): string {
  const { figures, machine, node } = results()
  const all = Object.values(figures)
  const of = (ids: string[]) => all.filter(({ id }) => ids.includes(id))
  const ofGroup = (group: string, by?: string) =>
    all.filter(({ id }) => goals[id]!.group === group && (by === undefined || goals[id]!.by === by))
  const tables: Record<string, string> = {
    requests: comparedTable(ofGroup('speed', 'ratio'), 'times the floor'),
    streams: valueTable(ofGroup('speed', 'value')),
    growth: comparedTable(ofGroup('growth', 'ratio'), 'times the smallest'),
    lists: valueTable(ofGroup('growth', 'value')),
    search: searchTable(figures),
    weight: valueTable(ofGroup('weight')),
    machine: `The figures of this page are of ${dates(of(all.map(({ id }) => id)))}, on ${machine}, with Node ${node.replace(/^v/, '')}.`,
  }
  return readFileSync(PAGE, 'utf8').replace(
    /(<!-- figures: (\w+) -->\n\n)[\s\S]*?(\n\n<!-- end of figures -->)/g,
    (_, begin: string, name: string, end: string) => begin + tables[name] + end,
  )
}

function dates(figures: Figure[]): string {
  const days = (figures as (Figure & { measuredAt: string })[]).map(({ measuredAt }) => measuredAt.slice(0, 10)).sort()
  return days[0] === days.at(-1) ? String(days[0]) : `${days[0]} to ${days.at(-1)}`
}

/** Returns a table of figures measured on both engines, each next to its baseline. */
function comparedTable(figures: Figure[], base: string): string {
  const rows = [...new Set(figures.map(({ id }) => id))].map((id) => {
    const on = (engine: Engine) => figures.find((figure) => figure.id === id && figure.engine === engine)
    const cells = [on('sqlite'), on('postgres')].flatMap((figure) =>
      figure === undefined ? ['', ''] : [shown(figure.value), figure.ratio!.toFixed(2)],
    )
    return [whatOf(on('sqlite') ?? on('postgres')!), ...cells]
  })
  return table(['', 'embedded store, ms', base, 'PostgreSQL, ms', base], rows)
}

function valueTable(figures: Figure[]): string {
  const isStored = figures.some(({ engine }) => engine !== undefined)
  const rows = [...new Set(figures.map(({ id }) => id))].map((id) => {
    const [first, ...others] = figures.filter((figure) => figure.id === id)
    const cells = [first, others[0]]
      .slice(0, isStored ? 2 : 1)
      .map((figure) => (figure ? `${shown(figure.value)} ${goals[id]!.unit}` : ''))
    return [whatOf(first!), ...cells]
  })
  return table(isStored ? ['', 'embedded store', 'PostgreSQL'] : ['', 'measured'], rows)
}

function searchTable(figures: Results['figures']): string {
  const value = (id: string) => (figures[id] === undefined ? '' : shown(figures[id].value))
  const rows = searched(figures).map((n) => [
    n.toLocaleString('en'),
    ...[`search-${n}-p50`, `search-${n}-p99`, `answer-${n}-p99`, `memory-${n}`, `file-${n}`, `index-${n}`].map(value),
  ])
  return table(['passages', 'p50 ms', 'p99 ms', 'with an answer, p99 ms', 'memory MB', 'file MB', 'indexed a second'], rows)
}

const searched = (figures: Results['figures']): number[] => SEARCHED.filter((n) => figures[`search-${n}-p50`] !== undefined)

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---' : '---:')).join('|')}|`, ...rows.map(line)].join('\n')
}

/** Plots search time, file size and indexing speed by the number of passages. */
export function searchPlot(): string {
  const { figures } = results()
  const steps = searched(figures)
  const values = (name: (n: number) => string) => steps.map((n) => figures[name(n)]!.value)
  const panel = (title: string, lines: Panel['lines']): Panel => ({ title, of: 'passages', steps, lines })
  return plot('Time of a question, size of the knowledge file and speed of indexing, by the number of passages', [
    panel('A question, ms', [
      { label: 'p50', values: values((n) => `search-${n}-p50`) },
      { label: 'p99', values: values((n) => `search-${n}-p99`) },
    ]),
    panel('Knowledge file, MB', [{ label: 'with the text', values: values((n) => `file-${n}`) }]),
    panel('Passages indexed a second', [{ label: 'in one go', values: values((n) => `index-${n}`) }]),
  ])
}

/** Plots processor time of requests by the amount of stored data. It should stay flat. */
export function growthPlot(): string {
  const { figures } = results()
  const panel = (title: string, of: string, id: string): Panel => {
    const on = (engine: Engine) => figures[`${engine}/${id}`]?.points ?? []
    return {
      title,
      of,
      steps: on('sqlite').map(([size]) => size),
      lines: [
        { label: 'embedded store', values: on('sqlite').map(([, value]) => value) },
        { label: 'PostgreSQL', values: on('postgres').map(([, value]) => value) },
      ].filter(({ values }) => values.length > 0),
    }
  }
  return plot('Processor time of a request, by what is stored', [
    panel('A message and its reply, ms', 'messages before it', 'growth-send'),
    panel('A message and its reply, ms', 'messages of all agents', 'growth-store-send'),
    panel('A page of messages, ms', 'place in the session', 'growth-page'),
    panel('The list of one user, ms', 'sessions of the agent', 'growth-user'),
  ])
}
