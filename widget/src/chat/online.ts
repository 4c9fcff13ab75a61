/** Some systems report that they are offline although they are not. */
const DOUBT_MS = 20_000

/** Resolves when the device is online, when the signal aborts, or after a while, because the device can be wrong. */
export function untilOnline(signal?: AbortSignal | null): Promise<void> {
  if (navigator.onLine || signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      removeEventListener('online', done)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, DOUBT_MS)
    addEventListener('online', done)
    signal?.addEventListener('abort', done)
  })
}
