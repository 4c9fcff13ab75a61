import { ReparteeError } from './errors.ts'

export interface PageInput {
  limit: number
  /** Id of the item after which the page starts. */
  cursor?: string
}

/** A request for a page of a knowledge base. */
export interface KnowledgePageInput extends PageInput {
  /** The id of the calling key. Keys take turns. */
  askedBy?: string
}

export interface Page<T> {
  items: T[]
  hasMore: boolean
  /** The number of items on all pages. */
  total: number
}

/** Returns a page. `items` contains one more than `limit` if a further page exists. */
export function toPage<T>(items: T[], limit: number, total: number): Page<T> {
  return { items: items.slice(0, limit), hasMore: items.length > limit, total }
}

export const invalidCursor = (what: string) =>
  new ReparteeError('invalid_cursor', `query.cursor is not the id of ${what} in this list`, {
    details: [{ path: 'query.cursor', message: `must be the id of ${what} in this list` }],
  })
