/** A line of a plot. */
export interface Line {
  label: string
  /** Above 0, one for each step of the plot. */
  values: readonly number[]
}

export interface Panel {
  title: string
  lines: readonly Line[]
}

const WIDTH = 250
const HEIGHT = 200
const LEFT = 46
const TOP = 44
const RIGHT = 14
const BOTTOM = 34
const COLOURS = ['#0b63b5', '#b3400a']

/** Small plots side by side over the same steps, both axes logarithmic, as one SVG file that needs nothing else. */
export function plot(title: string, steps: readonly number[], panels: readonly Panel[]): string {
  const whole = WIDTH * panels.length
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole}" height="${HEIGHT}" viewBox="0 0 ${whole} ${HEIGHT}" role="img" font-family="sans-serif" font-size="11" fill="#222">`,
    `<title>${title}</title>`,
    `<rect width="${whole}" height="${HEIGHT}" fill="#fff"/>`,
    ...panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">\n${panelOf(steps, panel)}\n</g>`),
    '</svg>\n',
  ].join('\n')
}

function panelOf(steps: readonly number[], { title, lines }: Panel): string {
  const all = lines.flatMap(({ values }) => values)
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))]
  const x = (i: number): number => LEFT + (i * (WIDTH - LEFT - RIGHT)) / (steps.length - 1)
  const y = (value: number): number => TOP + ((high - Math.log10(value)) * (HEIGHT - TOP - BOTTOM)) / (high - low)
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i))
  return [
    `<text x="${LEFT}" y="16" font-weight="bold">${title}</text>`,
    ...powers.flatMap((power) => [
      `<path d="M${LEFT} ${round(y(power))}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${round(y(power) + 4)}" text-anchor="end">${short(power)}</text>`,
    ]),
    ...steps.map((step, i) => `<text x="${round(x(i))}" y="${HEIGHT - 16}" text-anchor="middle">${short(step)}</text>`),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 3}" text-anchor="middle">passages</text>`,
    ...lines.flatMap(({ label, values }, i) => [
      `<polyline fill="none" stroke="${COLOURS[i]}" stroke-width="2" points="${values.map((value, at) => `${round(x(at))},${round(y(value))}`).join(' ')}"/>`,
      ...values.map((value, at) => `<circle cx="${round(x(at))}" cy="${round(y(value))}" r="3" fill="${COLOURS[i]}"/>`),
      `<text x="${LEFT + i * 60}" y="32" fill="${COLOURS[i]}">${label}</text>`,
    ]),
  ].join('\n')
}

const round = (value: number): number => Math.round(value * 10) / 10
const short = (value: number): string => {
  const [unit, sign] = value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'k'] : [1, '']
  return `${Number((value / unit).toPrecision(2))}${sign}`
}

/** One line over time, both axes from 0, as one SVG file that needs nothing else. */
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

/** To a number whose quarters are whole. */
const roundUp = (value: number): number => Math.ceil(value / 100) * 100
