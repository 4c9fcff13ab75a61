import { useSyncExternalStore } from 'react'

/** Code that is fetched on first use, and then cached. */
export interface Loaded<T> {
  /** Resolves when the code is loaded. If the fetch fails, the next call tries again. */
  want(): Promise<void>
  /** Undefined until the code is loaded. */
  use(): T | undefined
}

/** Creates a lazy loader for code that a page can do without. React's `lazy` never retries after a failure, and fails the whole page. */
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
