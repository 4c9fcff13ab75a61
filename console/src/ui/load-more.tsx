import './states.css'
import { Button } from './button.tsx'
import { ErrorNote } from './error-note.tsx'
import { useUiTexts } from './texts.ts'

export interface LoadMoreProps {
  shown: number
  /** Undefined if it is unknown, or if it should not be shown. */
  total: number | undefined
  hasMore: boolean
  isBusy: boolean
  /** The error of loading the next page; null if there is none. */
  error: unknown
  onMore(): void
}

/** The end of a paginated list. */
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
