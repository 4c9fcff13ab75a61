import { ReparteeError } from './errors.ts'

export interface PageInput {
  limit: number
  /** Id of the item after which the page starts. */
  cursor?: string
}

/** Asks for a page of what a knowledge base holds. */
export interface KnowledgePageInput extends PageInput {
  /** The key that asks. Keys take turns. */
  askedBy?: string
}

export interface Page<T> {
  items: T[]
  hasMore: boolean
  /** All items, not only this page's. */
  total: number
}

/** One item more than the page was read, to know whether there is more. */
export function toPage<T>(items: T[], limit: number, total: number): Page<T> {
  return { items: items.slice(0, limit), hasMore: items.length > limit, total }
}

export const invalidCursor = (what: string) =>
  new ReparteeError('invalid_cursor', `query.cursor is not the id of ${what} in this list`, {
    details: [{ path: 'query.cursor', message: `must be the id of ${what} in this list` }],
  })
