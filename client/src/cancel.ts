import { ReparteeError } from './errors.ts'

/** `setTimeout` does not support longer delays. Nobody waits that long. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A signal that aborts with the caller's signal or when the time is over. Call `clear` when the work is done. */
export interface Deadline {
  signal: AbortSignal
  clear(): void
}

/** Starts a deadline. Its signal aborts with `aborted` if the caller's signal aborts, or with the error from `tooLate` after `ms`. */
export function deadline(ms: number, tooLate: () => ReparteeError, signal?: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const timer = ms <= MAX_TIMER_MS ? setTimeout(() => controller.abort(tooLate()), ms) : undefined
  const unfollow = follow(controller, signal)
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      unfollow()
    },
  }
}

/** Aborts the controller when the caller's signal aborts. Returns a function that stops this. */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(toAborted(signal!))
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return () => signal?.removeEventListener('abort', abort)
}

/** Returns the error for a call that the caller aborted. The signal's reason becomes the cause. */
export const toAborted = ({ reason }: AbortSignal): ReparteeError =>
  reason instanceof ReparteeError
    ? reason
    : new ReparteeError('aborted', 'The call was stopped by its signal.', { cause: reason })

/** Resolves after `ms`, or when the browser is online again. Rejects with `aborted` if the signal aborts first. */
export function pause(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  const page = globalThis as Partial<Pick<EventTarget, 'addEventListener' | 'removeEventListener'>>
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      page.removeEventListener?.('online', end)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(toAborted(signal))
      else resolve()
    }
    const timer = setTimeout(end, ms)
    page.addEventListener?.('online', end)
    signal?.addEventListener('abort', end)
    if (signal?.aborted) end()
  })
}

/** Settles like the promise. Rejects with the signal's reason if the signal aborts first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
