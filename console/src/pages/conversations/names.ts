export { nameOf } from '../parts/session-name.ts'

/** The first 8 characters of an id: enough to distinguish a few ids. */
export const shortId = (id: string): string => id.slice(0, 8)

export const hrefOf = (agentId: string, sessionId: string, search = '') =>
  `/agents/${agentId}/conversations/${sessionId}${search}`

/** The absolute address of a console page, for sharing. */
export const addressOf = (href: string) => `${location.origin}/console${href}`
