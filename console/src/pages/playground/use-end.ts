import { useCallback, useEffect, useRef, useState } from 'react'

/** So near to the end counts as at it. */
const NEAR_PX = 48

/** Keeps a box that grows at its end, for as long as the reader is there. `moved` counts what takes the reader there anyhow. */
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the count that takes the reader there
  useEffect(goToEnd, [moved, goToEnd])
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!
    // The box may have grown since it was scrolled: only who goes up leaves the end.
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) sticks.current = true
    else if (scrollTop < lastTop.current) sticks.current = false
    lastTop.current = scrollTop
    setAtEnd(sticks.current)
  }
  return { box, content, isAtEnd, goToEnd, onScroll }
}
