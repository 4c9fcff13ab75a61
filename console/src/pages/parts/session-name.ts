import type { Format } from '../../texts/format.ts'

/** Returns the name of a conversation. An unnamed one has its creation time as name, which is formatted. */
export const nameOf = (name: string, format: Format): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(name) ? format.time(name) : name
