import { useCallback, useEffect, useRef } from 'react'

/** Tells whether the component is still shown: for what follows an answer that may come after the reader has gone. */
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
