import type { Format } from '../../texts/format.ts'

/** A conversation that nobody named is called by the time of its creation: shown as times are. */
export const nameOf = (name: string, format: Format): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(name) ? format.time(name) : name
