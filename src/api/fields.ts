import type { Limits } from '../core/ports/limits.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { Type } from './schema.ts'

/** A UUID, accepted in either case and returned in lower case. */
export const Uuid = (description: string) => Type.String({ format: 'uuid', description })
export const Timestamp = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-20T14:10:00.000Z'] })

/** A text with at least one character other than white space. Lengths count Unicode code points. */
export const FilledText = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '\\S', description })

export const closed = { additionalProperties: false } as const
export const Success = Type.Literal(true, { description: 'Always true.' })

export const AgentPath = Type.Object({ agentId: Uuid('The agent.') }, closed)
export const SessionPath = Type.Object({ agentId: Uuid('The agent.'), sessionId: Uuid('The session.') }, closed)
export const Nothing = Type.Object({}, closed)

const limitRange = { minimum: pageLimit.min, maximum: pageLimit.max }
export const Limit = Type.Integer({ ...limitRange, default: pageLimit.default, description: 'Items per page.' })
/** For a list that is returned whole without `limit`: with a default in the document, generated clients would page it. */
export const LimitOfWholeList = Type.Integer({
  ...limitRange,
  description: `Items per page. Without \`limit\` and \`cursor\`, the whole list is returned; with \`cursor\` alone, ${pageLimit.default} items.`,
})
export const Pagination = Type.Object({
  hasMore: Type.Boolean({ description: 'True when more items follow this page.' }),
  nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'Cursor of the next page; null when there is none.' }),
  total: Type.Integer({ description: 'All items, not only those of this page.' }),
})

export type { Limits }
