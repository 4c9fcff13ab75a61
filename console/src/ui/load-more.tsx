import './states.css'
import { Button } from './button.tsx'
import { ErrorNote } from './error-note.tsx'
import { useUiTexts } from './texts.ts'

export interface LoadMoreProps {
  shown: number
  /** Undefined where it is not known, or not to be said. */
  total: number | undefined
  hasMore: boolean
  isBusy: boolean
  /** Why the next page could not be had; null where it could. */
  error: unknown
  onMore(): void
}

/** The end of a list that comes page by page. */
export function LoadMore({ shown, total, hasMore, isBusy, error, onMore }: LoadMoreProps) {
  const texts = useUiTexts()
  if (!hasMore && total === undefined) return null
  return (
    <>
      {error != null && (
        <div className="card-body">
          <ErrorNote error={error} />
        </div>
      )}
      <div className="load-more">
        {total !== undefined && <span className="muted numbers">{texts.shown(shown, total)}</span>}
        {hasMore && (
          <Button size="small" isBusy={isBusy} onPress={onMore}>
            {error == null ? texts.loadMore : texts.tryAgain}
          </Button>
        )}
      </div>
    </>
  )
}
