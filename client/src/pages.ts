import type { Pagination } from './types.ts'

/** As large as a page may be: the fewest requests. */
const ITEMS = 100

interface PageQuery {
  cursor?: string | undefined
  limit?: number | undefined
}

/** The items of all pages, each page fetched when the one before is used up. */
export async function* eachItem<P extends { pagination?: Pagination }, T>(
  query: PageQuery | undefined,
  load: (page: { cursor?: string | undefined; limit: number }) => Promise<P>,
  itemsOf: (page: P) => T[],
): AsyncGenerator<T, void> {
  for (let cursor = query?.cursor; ; ) {
    const page = await load({ limit: query?.limit ?? ITEMS, cursor })
    yield* itemsOf(page)
    if (!page.pagination?.hasMore || page.pagination.nextCursor === null) return
    cursor = page.pagination.nextCursor
  }
}
