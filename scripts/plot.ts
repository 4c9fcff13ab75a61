export interface Line {
  label: string
  /** Greater than 0, one for each step of the plot. */
  values: readonly number[]
}

/** A plot with its own steps and two logarithmic axes. */
export interface Panel {
  title: string
  /** The unit of the steps. */
  of: string
  /** Greater than 0. */
  steps: readonly number[]
  lines: readonly Line[]
}

const WIDTH = 250
const HEIGHT = 200
const LEFT = 46
const TOP = 44
const RIGHT = 14
const BOTTOM = 34
/** Width of a number below the axis. */
const LABEL_WIDTH = 26
const COLOURS = ['#0b63b5', '#b3400a']

/** Returns small plots side by side, as one self-contained SVG file. */
export function plot(title: string, panels: readonly Panel[]): string {
  const whole = WIDTH * panels.length
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="${HEIGHT}" viewBox="0 0 ${whole} ${HEIGHT}" role="img" font-family="sans-serif" font-size="11" fill="#222">`,
    `<title>${title}</title>`,
    `<rect width="${whole}" height="${HEIGHT}" fill="#fff"/>`,
    ...panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">\n${panelOf(panel)}\n</g>`),
    '</svg>\n',
  ].join('\n')
}

function panelOf({ title, of, steps, lines }: Panel): string {
  const all = lines.flatMap(({ values }) => values)
  const low = Math.floor(Math.log10(Math.min(...all)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...all))))
  const [first, last] = [Math.log10(steps[0]!), Math.log10(steps.at(-1)!)]
  const x = (i: number): number => LEFT + ((Math.log10(steps[i]!) - first) * (WIDTH - LEFT - RIGHT)) / (last - first || 1)
  const y = (value: number): number => TOP + ((high - Math.log10(value)) * (HEIGHT - TOP - BOTTOM)) / (high - low)
  // The last label is always shown. A label that would overlap a later one is not.
  const isCrowded = (i: number): boolean => steps.slice(i + 1).some((_, k) => x(i + 1 + k) - x(i) < LABEL_WIDTH)
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
  return [
    `<text x="${LEFT}" y="16" font-weight="bold">${title}</text>`,
    ...powers.flatMap((power) => [
      `<path d="M${LEFT} ${round(y(power))}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${round(y(power) + 4)}" text-anchor="end">${short(power)}</text>`,
    ]),
    ...steps.map((step, i) =>
      isCrowded(i) ? '' : `<text x="${round(x(i))}" y="${HEIGHT - 16}" text-anchor="middle">${short(step)}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 3}" text-anchor="middle">${of}</text>`,
    ...lines.flatMap(({ label, values }, i) => [
      `<polyline fill="none" stroke="${COLOURS[i]}" stroke-width="2" points="${values.map((value, at) => `${round(x(at))},${round(y(value))}`).join(' ')}"/>`,
      ...values.map((value, at) => `<circle cx="${round(x(at))}" cy="${round(y(value))}" r="3" fill="${COLOURS[i]}"/>`),
      `<text x="${LEFT + i * 90}" y="32" fill="${COLOURS[i]}">${label}</text>`,
    ]),
  ].join('\n')
}

const round = (value: number): number => Math.round(value * 10) / 10
const short = (value: number): string => {
  const [unit, sign] = value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'k'] : [1, '']
  return `${Number((value / unit).toPrecision(2))}${sign}`
}

/** Returns one line over time with both axes starting at 0, as a self-contained SVG file. */
export function curve(title: string, unit: string, points: readonly (readonly [x: number, y: number])[]): string {
  const [width, height] = [640, 240]
  const most = { x: Math.max(...points.map(([x]) => x)), y: roundUp(Math.max(...points.map(([, y]) => y))) }
  const x = (value: number): number => LEFT + (value * (width - LEFT - RIGHT)) / most.x
  const y = (value: number): number => TOP + ((most.y - value) * (height - TOP - BOTTOM)) / most.y
  const path = points.map(([at, value], i) => `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join(' ')
  const steps = [0, 0.25, 0.5, 0.75, 1]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="11" fill="#222">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="${LEFT}" y="16" font-weight="bold">${title}</text>`,
    ...steps.map((step) => {
      const value = most.y * step
      return `<path d="M${LEFT} ${y(value)}H${width - RIGHT}" stroke="#ddd"/><text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`
    }),
    ...steps.map((step) => {
      const value = most.x * step
      return `<text x="${x(value)}" y="${height - BOTTOM + 18}" text-anchor="middle">${Math.round(value)}${step === 1 ? ` ${unit}` : ''}</text>`
    }),
    `<path d="${path}" fill="none" stroke="${COLOURS[0]}" stroke-width="1.5"/>`,
    '</svg>\n',
  ].join('\n')
}

/** Rounds up to a number whose quarters are whole. */
const roundUp = (value: number): number => Math.ceil(value / 100) * 100
