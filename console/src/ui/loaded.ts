import { useSyncExternalStore } from 'react'

/** Code that is fetched when it is first wanted, and kept. */
export interface Loaded<T> {
  /** Resolves when it is there. Where the fetch fails, the next call tries again. */
  want(): Promise<void>
  /** Undefined until it is there. */
  use(): T | undefined
}

/** React's own `lazy` remembers a failure for good, and takes the page down with it; what a page can do without is loaded with this. */
export function loaded<T>(load: () => Promise<T>): Loaded<T> {
  const listeners = new Set<() => void>()
  let value: T | undefined
  let asked: Promise<void> | undefined
  const subscribe = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const take = (come: T) => {
    value = come
    for (const listener of listeners) listener()
  }
  return {
    want() {
      asked ??= load().then(take, (error) => {
        asked = undefined
        throw error
      })
      return asked
    },
    use: () => useSyncExternalStore(subscribe, () => value),
  }
}
