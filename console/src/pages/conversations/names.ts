export { nameOf } from '../parts/session-name.ts'

/** Enough of an id to tell a few apart at a glance. */
export const shortId = (id: string): string => id.slice(0, 8)

export const hrefOf = (agentId: string, sessionId: string, search = '') =>
  `/agents/${agentId}/conversations/${sessionId}${search}`

/** The whole address of a page of the console, to be sent to others. */
export const addressOf = (href: string) => `${location.origin}/console${href}`
