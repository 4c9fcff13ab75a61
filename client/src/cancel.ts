import { ReparteeError } from './errors.ts'

/** Longer ones are no timers; nobody waits so long. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** A signal that is given when the caller's is, or when the time is over. `clear` must be called when the work is done. */
export interface Deadline {
  signal: AbortSignal
  clear(): void
}

/** Runs until the signal of the caller, with `aborted`, or until the time is over, with an error of the kind that is told. */
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

/** Aborts with the signal of a caller. Returns what ends that. */
export function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const abort = () => controller.abort(toAborted(signal!))
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return () => signal?.removeEventListener('abort', abort)
}

/** The caller has stopped it; its own reason is the cause. */
export const toAborted = ({ reason }: AbortSignal): ReparteeError =>
  reason instanceof ReparteeError
    ? reason
    : new ReparteeError('aborted', 'The call was stopped by its signal.', { cause: reason })

/** Resolves after a time. Rejects with `aborted` when the signal is given first. */
export function pause(ms: number, signal?: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(toAborted(signal!))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
  })
}

/** What a promise comes to that knows of no signal. Rejects with the reason of the signal when that is given first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
