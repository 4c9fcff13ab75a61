import { type InfiniteData, type QueryKey, type UseInfiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

interface Page {
  pagination?: { nextCursor: string | null; total: number }
}

type Options<P> = UseInfiniteQueryOptions<P, Error, InfiniteData<P, string | undefined>, QueryKey, string | undefined>

interface Paged<P, R>
  extends Pick<Options<P>, 'queryKey' | 'refetchInterval' | 'staleTime' | 'refetchOnMount' | 'placeholderData'>,
    Partial<Pick<Options<P>, 'initialPageParam' | 'getNextPageParam'>> {
  read(cursor: string | undefined, signal: AbortSignal): Promise<P>
  rowsOf(page: P): readonly R[]
}

/** A paginated list, with the props that `LoadMore` shows at its end. */
export function usePages<P extends Page, R>({ read, rowsOf, ...options }: Paged<P, R>) {
  const query = useInfiniteQuery<P, Error, InfiniteData<P, string | undefined>, QueryKey, string | undefined>({
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined,
    getNextPageParam: ({ pagination }) => pagination?.nextCursor ?? undefined,
    ...options,
  })
  const { data, error, hasNextPage, isFetchingNextPage, isFetchNextPageError, fetchNextPage } = query
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows depend only on the data
  const rows = useMemo(() => data?.pages.flatMap(rowsOf) ?? [], [data])
  const total = data?.pages.at(-1)?.pagination?.total
  const more = {
    shown: rows.length,
    total,
    hasMore: hasNextPage,
    isBusy: isFetchingNextPage,
    error: isFetchNextPageError ? error : null,
    onMore: () => void fetchNextPage(),
  }
  return { ...query, rows, total, more }
}
