import { useMemo } from 'react'
import { useLocale } from './locale.tsx'

const STEPS: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]
const BYTES = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

export type Format = ReturnType<typeof formatOf>

/** Formats numbers, times and sizes for a language. Times are in the time zone of the reader. */
function formatOf(tag: string) {
  const numbers = new Intl.NumberFormat(tag)
  const compact = new Intl.NumberFormat(tag, { notation: 'compact', maximumFractionDigits: 1 })
  const shares = new Intl.NumberFormat(tag, { style: 'percent', maximumFractionDigits: 0 })
  const money = new Intl.NumberFormat(tag, { style: 'currency', currency: 'USD', maximumFractionDigits: 4 })
  const days = new Intl.DateTimeFormat(tag, { dateStyle: 'medium' })
  const shortDays = new Intl.DateTimeFormat(tag, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const times = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short' })
  const relative = new Intl.RelativeTimeFormat(tag, { numeric: 'auto' })
  const lists = new Intl.ListFormat(tag)
  return {
    number: (n: number) => numbers.format(n),
    /** 12.3K */
    compact: (n: number) => compact.format(n),
    /** The share is from 0 to 1. */
    percent: (share: number) => shares.format(share),
    /** In US dollars. */
    money: (dollars: number) => money.format(dollars),
    date: (time: string | number) => days.format(new Date(time)),
    /** A day in UTC, such as `2026-11-20`, without its year. */
    day: (date: string) => shortDays.format(new Date(`${date}T00:00:00Z`)),
    time: (time: string | number) => times.format(new Date(time)),
    /** 5 minutes ago */
    ago: (time: string | number) => {
      const seconds = (new Date(time).getTime() - Date.now()) / 1000
      const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const)
      return relative.format(unit === 'second' && Math.abs(seconds) < 10 ? 0 : Math.trunc(seconds / size), unit)
    },
    bytes: (bytes: number) => {
      const step = bytes < 1 ? 0 : Math.min(BYTES.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)))
      const unit = BYTES[step]!
      return new Intl.NumberFormat(tag, {
        style: 'unit',
        unit,
        unitDisplay: step === 0 ? 'long' : 'short',
        maximumFractionDigits: 1,
      }).format(bytes / 1024 ** step)
    },
    ms: (ms: number) =>
      ms < 1000
        ? new Intl.NumberFormat(tag, { style: 'unit', unit: 'millisecond', maximumFractionDigits: 0 }).format(ms)
        : new Intl.NumberFormat(tag, { style: 'unit', unit: 'second', maximumFractionDigits: 1 }).format(ms / 1000),
    list: (words: string[]) => lists.format(words),
  }
}

export function useFormat(): Format {
  const { tag } = useLocale()
  return useMemo(() => formatOf(tag), [tag])
}
