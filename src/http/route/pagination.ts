import type { Page } from '../../core/page.ts'

/** The pagination object (specification 2.4) of a page whose cursor is the id of its last item. */
export const toPagination = ({ items, hasMore, total }: Page<{ id: string }>) => ({
  hasMore,
  nextCursor: hasMore ? (items.at(-1)?.id ?? null) : null,
  total,
})
