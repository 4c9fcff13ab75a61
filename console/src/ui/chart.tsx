import './chart.css'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { useLocale } from '../texts/locale.tsx'
import { useUiTexts } from './texts.ts'

export interface Series {
  id: string
  label: string
  /** One value per point; null if there is none. */
  values: readonly (number | null)[]
}

export interface ChartProps {
  /** Accessible name. It is not visible, because the page has a heading for the chart. */
  label: string
  kind: 'line' | 'bar'
  /** Labels of the points, oldest first. */
  points: readonly string[]
  /** Up to four. Bars of several series are stacked. */
  series: readonly Series[]
  /** Formats a value. */
  format?(value: number): string
  /** Heading of the column of points in the table: `Day`. */
  pointLabel: string
  height?: number
}

const EDGE = { end: 10, top: 10, bottom: 24 }
/** Maximum width of a character of the labels, in pixels. */
const CHAR_WIDTH = 6.6
const LINES = 4

/** A chart, and a table with the same data that is also available to screen readers. */
export function Chart({ label, kind, points, series, format = String, pointLabel, height = 220 }: ChartProps) {
  const texts = useUiTexts()
  const { dir } = useLocale()
  const [width, frame] = useWidth()
  const [at, setAt] = useState<number>()
  const totals = points.map((_, i) => valuesAt(series, i).reduce((sum, value) => sum + value, 0))
  const highest =
    kind === 'bar' ? Math.max(0, ...totals) : Math.max(0, ...series.flatMap(({ values }) => values.map((v) => v ?? 0)))
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  const top = niceTop(highest, isWhole)
  const marks = Array.from({ length: LINES + 1 }, (_, line) => (top * line) / LINES)
  const start = 14 + CHAR_WIDTH * Math.max(...marks.map((mark) => format(mark).length))
  const inner = { width: Math.max(0, width - start - EDGE.end), height: height - EDGE.top - EDGE.bottom }
  const step = inner.width / Math.max(1, points.length)
  const across = (share: number) => (dir === 'rtl' ? width - start - share : start + share)
  const x = (i: number) => across((i + 0.5) * step)
  const y = (value: number) => EDGE.top + inner.height * (1 - value / top)
  const shape = { series, x, y, step, count: points.length }
  const every = Math.max(1, Math.ceil(points.length / Math.max(1, Math.floor(inner.width / 64))))
  const follow = (event: React.PointerEvent<SVGSVGElement>) => {
    const from = event.clientX - event.currentTarget.getBoundingClientRect().left
    const share = dir === 'rtl' ? width - start - from : from - start
    const i = Math.floor(share / step)
    setAt(i >= 0 && i < points.length ? i : undefined)
  }
  return (
    <figure className="chart" aria-label={label}>
      {series.length > 1 && <Legend series={series} />}
      <div ref={frame} className="chart-frame" style={{ blockSize: height }}>
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true" onPointerMove={follow} onPointerLeave={() => setAt(undefined)}>
            {marks.map((value) => (
              <g key={value} className="chart-line">
                <line x1={across(0)} x2={across(inner.width)} y1={y(value)} y2={y(value)} />
                <text x={across(-8)} y={y(value)} textAnchor="end" dominantBaseline="middle" direction={dir}>
                  {format(value)}
                </text>
              </g>
            ))}
            {points.map((point, i) =>
              i % every === 0 ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: points have no id, only a position
                <text key={i} className="chart-point" x={x(i)} y={height - 6} textAnchor="middle">
                  {point}
                </text>
              ) : null,
            )}
            {at !== undefined && (
              <line className="chart-cursor" x1={x(at)} x2={x(at)} y1={EDGE.top} y2={EDGE.top + inner.height} />
            )}
            {kind === 'bar' ? <Bars {...shape} /> : <Lines {...shape} at={at} />}
          </svg>
        )}
        {highest === 0 && <p className="chart-empty muted">{texts.noData}</p>}
        {at !== undefined && (
          <div
            className="chart-tip"
            aria-hidden="true"
            style={{ insetInlineStart: `${Math.min(Math.max((at + 0.5) * step + start, 90), width - 90)}px` }}
          >
            <strong>{points[at]}</strong>
            {series.map(({ id, label: name, values }, place) => (
              <span key={id} className="chart-tip-line">
                <i className={`chart-dot chart-${place + 1}`} />
                {name}
                <b className="numbers">{values[at] == null ? '–' : format(values[at])}</b>
              </span>
            ))}
          </div>
        )}
      </div>
      <details className="chart-table">
        <summary>{texts.asTable}</summary>
        <ChartTable points={points} series={series} format={format} pointLabel={pointLabel} label={label} />
      </details>
    </figure>
  )
}

const valuesAt = (series: readonly Series[], i: number) => series.map(({ values }) => values[i] ?? 0)

/** Returns the next higher value that divides into four round steps. */
function niceTop(highest: number, isWhole: boolean): number {
  if (highest <= 0) return LINES
  const size = 10 ** Math.floor(Math.log10(highest / LINES))
  const steps = [1, 2, 2.5, 3, 4, 5, 10].map((factor) => factor * size)
  return steps.find((step) => step * LINES >= highest && (!isWhole || Number.isInteger(step)))! * LINES
}

interface Shape {
  series: readonly Series[]
  x(i: number): number
  y(value: number): number
  step: number
  count: number
}

function Bars({ series, x, y, step, count }: Shape) {
  const width = Math.max(1, Math.min(34, step * 0.68))
  return Array.from({ length: count }, (_, i) => {
    let below = 0
    return valuesAt(series, i).map((value, place) => {
      const from = below
      below += value
      if (value <= 0) return null
      const height = y(from) - y(below)
      return (
        <rect
          // biome-ignore lint/suspicious/noArrayIndexKey: points have no id, only a position
          key={`${i} ${series[place]!.id}`}
          className={`chart-bar chart-${place + 1}`}
          x={x(i) - width / 2}
          y={y(below)}
          width={width}
          height={height}
          rx={Math.min(3, width / 3, height / 2)}
        />
      )
    })
  })
}

function Lines({ series, x, y, at }: Shape & { at: number | undefined }) {
  return series.map(({ id, values }, place) => {
    const known = values.flatMap((value, i) => (value === null ? [] : [[x(i), y(value)] as const]))
    const path = known.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${px.toFixed(1)} ${py.toFixed(1)}`).join('')
    const marked = at === undefined ? undefined : values[at]
    return (
      <g key={id} className={`chart-${place + 1}`}>
        <path className="chart-path" d={path} />
        {known.length === 1 && <circle cx={known[0]![0]} cy={known[0]![1]} r={3} />}
        {at !== undefined && marked != null && <circle cx={x(at)} cy={y(marked)} r={3.5} />}
      </g>
    )
  })
}

const Legend = ({ series }: { series: readonly Series[] }) => (
  <ul className="chart-legend">
    {series.map(({ id, label }, place) => (
      <li key={id}>
        <i className={`chart-dot chart-${place + 1}`} />
        {label}
      </li>
    ))}
  </ul>
)

function ChartTable({
  points,
  series,
  format,
  pointLabel,
  label,
}: Required<Pick<ChartProps, 'points' | 'series' | 'format' | 'pointLabel' | 'label'>>) {
  const cell = (value: number | null | undefined): ReactNode => (value == null ? '–' : format(value))
  return (
    <table className="chart-data" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{pointLabel}</th>
          {series.map((one) => (
            <th key={one.id} scope="col" className="table-number">
              {one.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {points.map((point, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: points have no id, only a position
          <tr key={i}>
            <th scope="row">{point}</th>
            {series.map((one) => (
              <td key={one.id} className="table-number numbers">
                {cell(one.values[i])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** Returns the width of an element in pixels, updated when it changes. */
function useWidth() {
  const [width, setWidth] = useState(0)
  const frame = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = frame.current!
    setWidth(element.clientWidth)
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [width, frame] as const
}
