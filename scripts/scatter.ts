/** A line through the settings of one system, and one point for each other system. */
export interface Cloud {
  title: string
  line: readonly Point[]
  points: readonly (Point & { label: string })[]
}

export interface Point {
  x: number
  y: number
}

const WIDTH = 330
const HEIGHT = 260
const LEFT = 40
const TOP = 28
const RIGHT = 14
const BOTTOM = 36
const LEGEND = 44
const COLOURS = { line: '#0b63b5', points: '#b3400a' }
const STEPS = [500, 1_000, 2_000, 5_000, 10_000, 20_000]

/** Returns plots in two columns, as a self-contained SVG file. The horizontal axis is logarithmic, in `unit`. `line` labels the line. */
export function scatter(title: string, unit: string, line: string, clouds: readonly Cloud[]): string {
  const width = 2 * WIDTH
  const height = Math.ceil(clouds.length / 2) * HEIGHT + LEGEND
  const names = clouds[0]!.points.map(({ label }, i) => `${i + 1} ${label}`).join(' · ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="11" fill="#222">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    ...clouds.map(
      (cloud, i) => `<g transform="translate(${(i % 2) * WIDTH} ${Math.floor(i / 2) * HEIGHT})">\n${panelOf(cloud, unit)}\n</g>`,
    ),
    `<text x="${LEFT}" y="${height - 24}" fill="${COLOURS.line}">${line}</text>`,
    `<text x="${LEFT}" y="${height - 8}" fill="${COLOURS.points}">${names}</text>`,
    '</svg>\n',
  ].join('\n')
}

function panelOf({ title, line, points }: Cloud, unit: string): string {
  const all = [...line, ...points]
  const [left, right] = [Math.min(...all.map(({ x }) => x)) / 1.1, Math.max(...all.map(({ x }) => x)) * 1.1]
  const least = Math.floor(Math.min(...all.map(({ y }) => y)) * 10) / 10
  const toX = (x: number): number => round(LEFT + (Math.log(x / left) / Math.log(right / left)) * (WIDTH - LEFT - RIGHT))
  const toY = (y: number): number => round(TOP + ((1 - y) / (1 - least)) * (HEIGHT - TOP - BOTTOM))
  const shares = Array.from({ length: Math.round((1 - least) * 10) + 1 }, (_, i) => round(least + i / 10))
  return [
    `<text x="${LEFT}" y="16" font-weight="bold">${title}</text>`,
    ...shares.flatMap((share) => [
      `<path d="M${LEFT} ${toY(share)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      `<text x="${LEFT - 6}" y="${toY(share) + 4}" text-anchor="end">${share}</text>`,
    ]),
    ...STEPS.filter((step) => step >= left && step <= right).map(
      (step) => `<text x="${toX(step)}" y="${HEIGHT - 20}" text-anchor="middle">${step.toLocaleString('en')}</text>`,
    ),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 5}" text-anchor="middle">${unit}</text>`,
    `<polyline fill="none" stroke="${COLOURS.line}" stroke-width="2" points="${line.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(' ')}"/>`,
    ...line.map(({ x, y }) => `<circle cx="${toX(x)}" cy="${toY(y)}" r="3" fill="${COLOURS.line}"/>`),
    ...points.flatMap(({ x, y }, i) => [
      `<circle cx="${toX(x)}" cy="${toY(y)}" r="3" fill="${COLOURS.points}"/>`,
      `<text x="${toX(x) + (i % 2 === 0 ? 5 : -11)}" y="${toY(y) + (i % 2 === 0 ? 12 : -3)}" fill="${COLOURS.points}">${i + 1}</text>`,
    ]),
  ].join('\n')
}

const round = (value: number): number => Math.round(value * 10) / 10
