import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { dirname } from 'node:path'
import { boundOf, type Figure, isMet, keyOf, whatOf } from './figures.ts'
import { goals, groups } from './goals.ts'

/** The latest figures with their date and machine. */
export interface Results {
  machine: string
  node: string
  figures: Record<string, Figure & { measuredAt: string }>
}

export const machine = (): string =>
  `${cpus().length} cores of ${cpus()[0]?.model ?? 'an unknown kind'}, ${Math.round(totalmem() / 2 ** 30)} GB`

export function readResults(path: string | URL): Results | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Results) : undefined
}

/** Replaces the measured figures in earlier results and leaves the others. */
export function merge(before: Results | undefined, figures: readonly Figure[]): Results {
  const measuredAt = new Date().toISOString()
  const now = Object.fromEntries(figures.map((figure) => [keyOf(figure), { ...rounded(figure), measuredAt }]))
  const all = { ...before?.figures, ...now }
  return { machine: machine(), node: process.version, figures: Object.fromEntries(Object.entries(all).sort(inOrder)) }
}

export function writeResults(path: string, results: Results): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `${JSON.stringify(results, undefined, 2)}\n`)
}

/** Orders by goal, then by engine. */
function inOrder([, a]: [string, Figure], [, b]: [string, Figure]): number {
  const ids = Object.keys(goals)
  return ids.indexOf(a.id) - ids.indexOf(b.id) || (b.engine ?? '').localeCompare(a.engine ?? '')
}

function rounded(figure: Figure): Figure {
  const text = JSON.stringify(figure, (_, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value))
  return JSON.parse(text) as Figure
}

/** Returns a table of figures: value, baseline (floor or smallest size), goal, whether it is met, and the change since the last run. */
export function tableOf(figures: readonly Figure[], before: Results | undefined): string {
  const rows = figures.map((figure) => [
    groups[goals[figure.id]!.group],
    `${whatOf(figure)}${figure.engine === 'postgres' ? ' (PostgreSQL)' : ''}`,
    `${shown(figure.value)} ${goals[figure.id]!.unit}`,
    figure.base === undefined ? '' : shown(figure.base),
    figure.ratio === undefined ? '' : `${figure.ratio.toFixed(2)} x`,
    goalText(figure),
    { true: 'met', false: 'NOT MET', undefined: '' }[String(isMet(figure))]!,
    changeOf(figure, before?.figures[keyOf(figure)]),
  ])
  const head = ['', 'what', 'measured', 'against', 'ratio', 'goal', '', 'change']
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]!.length)))
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

export const shown = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(value >= 100 ? 3 : 2)))

export function goalText(figure: Figure): string {
  const { most, least } = boundOf(figure)
  const unit = goals[figure.id]!.by === 'ratio' ? 'x' : goals[figure.id]!.unit
  if (most !== undefined) return `at most ${shown(most)} ${unit}`
  return least === undefined ? '' : `at least ${shown(least)} ${unit}`
}

/** Compares ratios if available, because they depend least on the machine's other load. */
function changeOf(figure: Figure, before: Figure | undefined): string {
  if (before === undefined) return ''
  const [now, then] =
    figure.ratio !== undefined && before.ratio !== undefined ? [figure.ratio, before.ratio] : [figure.value, before.value]
  const percent = Math.round((now / then - 1) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}
