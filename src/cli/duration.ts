import { CommandError, exitCodes } from './command.ts'

const UNITS: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Converts `90d`, `12h`, `30m` or `45s` to seconds. Undefined for other texts. */
export function toSeconds(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNITS[unit!]!
}

/** Converts a date, a time with its zone, or a duration from now to ISO 8601. Throws `CommandError`. */
export function toTime(text: string, now: number): string {
  const seconds = toSeconds(text)
  const isTime = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text)
  const at = seconds === undefined ? (isTime ? Date.parse(text) : Number.NaN) : now + seconds * 1000
  if (Number.isNaN(at) || at > 8.64e15) {
    throw new CommandError(
      `"${text}" is no time: give a date (2027-01-31), a time (2027-01-31T12:00Z) or a span from now (90d, 12h)`,
      exitCodes.usage,
    )
  }
  return new Date(at).toISOString()
}
