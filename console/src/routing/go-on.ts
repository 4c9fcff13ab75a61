import { useCallback } from 'react'
import { useLocation } from 'wouter'
import { useIsThere } from '../ui/use-is-there.ts'
import { lowerGuards } from './location.ts'

/**
 * Leaves a page behind an answer, past its guard: what it guarded is saved, or gone. An answer may come late, so the reader who has left
 * the page by then stays where they are.
 */
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
