import type { Format } from '../../texts/format.ts'

/** A conversation that nobody named is called by the time of its creation: shown as times are. */
export const nameOf = (name: string, format: Format): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(name) ? format.time(name) : name

/** Enough of an id to tell a few apart at a glance. */
export const shortId = (id: string): string => id.slice(0, 8)

export const hrefOf = (agentId: string, sessionId: string, search = '') =>
  `/agents/${agentId}/conversations/${sessionId}${search}`

/** The whole address of a page of the console, to be sent to others. */
export const addressOf = (href: string) => `${location.origin}/console${href}`
