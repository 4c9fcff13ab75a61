import { useCallback, useEffect, useRef, useState } from 'react'

/** A distance to the end below this counts as the end. */
const NEAR_PX = 48

/** Scrolls a growing box to its end while the reader is there. When `moved` changes, it always scrolls to the end. */
export function useEnd(moved: number) {
  const box = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const sticks = useRef(true)
  const lastTop = useRef(0)
  const [isAtEnd, setAtEnd] = useState(true)
  const goToEnd = useCallback(() => {
    sticks.current = true
    setAtEnd(true)
    box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [])
  useEffect(() => {
    const { current } = content
    if (current === null) return
    const observer = new ResizeObserver(() => {
      if (sticks.current) box.current?.scrollTo({ top: box.current.scrollHeight })
    })
    observer.observe(current)
    return () => observer.disconnect()
  }, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new count scrolls to the end
  useEffect(goToEnd, [moved, goToEnd])
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!
    // The box may have grown after the scroll, so only scrolling up leaves the end.
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) sticks.current = true
    else if (scrollTop < lastTop.current) sticks.current = false
    lastTop.current = scrollTop
    setAtEnd(sticks.current)
  }
  return { box, content, isAtEnd, goToEnd, onScroll }
}
