const STEPS: [seconds: number, unit: string][] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [7 * 86_400, 'week'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
]

/** Returns for example "5 minutes ago", rounded down, with months of 30 days and years of 365. A time in the future counts as now. */
export function timeAgo(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000)
  if (seconds < 10) return 'a few seconds ago'
  const [size, unit] = STEPS.find(([size]) => seconds >= size) ?? [1, 'second']
  const n = Math.floor(seconds / size)
  return `${n} ${unit}${n === 1 ? '' : 's'} ago`
}
