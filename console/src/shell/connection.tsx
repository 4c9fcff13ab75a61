import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { Button } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { useShellTexts } from './texts.ts'

const SLOW_MS = 6_000

const subscribe = (listener: () => void) => {
  addEventListener('online', listener)
  addEventListener('offline', listener)
  return () => {
    removeEventListener('online', listener)
    removeEventListener('offline', listener)
  }
}

/** Shows a notice while the network is offline or the service is slow. It overlays the page, so that the layout does not shift. */
export function ConnectionNotice() {
  const texts = useShellTexts()
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine)
  const isSlow = useIsSlow()
  const queries = useQueryClient()
  useEffect(() => {
    if (isOnline) void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  }, [isOnline, queries])
  const askAgain = () => void queries.cancelQueries().then(() => queries.refetchQueries({ type: 'active', stale: true }))
  return (
    <div role="status" className="connection">
      {!isOnline && (
        <div className="connection-notice">
          <Icon name="warning" className="connection-icon" />
          <span>{texts.offline}</span>
        </div>
      )}
      {isOnline && isSlow && (
        <div className="connection-notice">
          <Icon name="clock" className="connection-icon" />
          <span>{texts.slow}</span>
          <Button size="small" onPress={askAgain}>
            {texts.retry}
          </Button>
        </div>
      )}
    </div>
  )
}

/** Whether requests have been running for longer than `SLOW_MS`. */
function useIsSlow(): boolean {
  const isFetching = useIsFetching() > 0
  const [isSlow, setSlow] = useState(false)
  useEffect(() => {
    if (!isFetching) return
    const timer = setTimeout(() => setSlow(true), SLOW_MS)
    return () => {
      clearTimeout(timer)
      setSlow(false)
    }
  }, [isFetching])
  return isSlow
}
