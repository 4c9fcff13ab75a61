import { Button } from './button.tsx'
import { useUiTexts } from './texts.ts'

/** The end of a list that comes page by page. */
export function LoadMore({
  shown,
  total,
  hasMore,
  isBusy,
  onMore,
}: {
  shown: number
  total?: number
  hasMore: boolean
  isBusy: boolean
  onMore(): void
}) {
  const texts = useUiTexts()
  if (!hasMore && total === undefined) return null
  return (
    <div className="load-more">
      {total !== undefined && <span className="muted numbers">{texts.shown(shown, total)}</span>}
      {hasMore && (
        <Button size="small" isBusy={isBusy} onPress={onMore}>
          {texts.loadMore}
        </Button>
      )}
    </div>
  )
}
