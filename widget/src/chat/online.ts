/** Some systems say that they are offline, and are not. */
const DOUBT_MS = 20_000

/** Resolves when the device has a network, when the signal is given, or after a while, because what it says need not be true. */
export function untilOnline(signal?: AbortSignal | null): Promise<void> {
  if (navigator.onLine || signal?.aborted) return Promise.resolve()
  return firstOf(DOUBT_MS, signal)
}

/** Resolves after a time, when the network comes back, or when the signal is given. */
export function firstOf(ms: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    addEventListener('online', done)
    signal?.addEventListener('abort', done)
  })
}
