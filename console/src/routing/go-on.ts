import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { useIsThere } from '../ui/use-is-there.ts'
import { lowerGuards } from './location.ts'

/** Returns a function that leaves the page after a request succeeds, past its leave guards. It does nothing if the page was left already. */
export function useGoOn(): (to: string, options?: { replace?: boolean }) => void {
  const [, navigate] = useLocation()
  const isThere = useIsThere()
  return useCallback(
    (to, options) => {
      if (!isThere()) return
      lowerGuards()
      navigate(to, options)
    },
    [navigate, isThere],
  )
}
