import { useCallback, useEffect, useRef } from 'react'

/** Returns a function that says whether the component is still mounted, for code that runs after a request. */
export function useIsThere(): () => boolean {
  const isThere = useRef(false)
  useEffect(() => {
    isThere.current = true
    return () => {
      isThere.current = false
    }
  }, [])
  return useCallback(() => isThere.current, [])
}
