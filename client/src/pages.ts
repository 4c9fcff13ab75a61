import type { Pagination } from './types.ts'

/** The maximum page size, which needs the fewest requests. */
const ITEMS = 100

interface PageQuery {
  cursor?: string | undefined
  limit?: number | undefined
}

/** Yields the items of all pages. Fetches each page when the previous one is used up. */
export async function* eachItem<Q extends PageQuery, P extends { pagination?: Pagination }, T>(
  query: Q,
  load: (page: Q) => Promise<P>,
  itemsOf: (page: P) => T[],
): AsyncGenerator<T, void> {
  for (let { cursor } = query; ; ) {
    const page = await load({ ...query, limit: query.limit ?? ITEMS, cursor })
    yield* itemsOf(page)
    if (!page.pagination?.hasMore || page.pagination.nextCursor === null) return
    cursor = page.pagination.nextCursor
  }
}
