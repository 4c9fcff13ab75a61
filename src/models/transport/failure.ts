import type { IncomingHttpHeaders } from 'node:http'
import { inspect } from 'node:util'
import { ReparteeError } from '../../core/errors.ts'

interface Circumstances {
  /** True if the same call may succeed a moment later. */
  transient?: boolean
  retryAfter?: number | undefined
  /** The provider's own message. Callers never see it. */
  cause?: unknown
}

/** Returns the error of a failed model, with a message of our own. */
export const failed = (why: string, circumstances: Circumstances = {}): ReparteeError =>
  new ReparteeError('model_failed', `The model failed: ${why}.`, circumstances)

/** The provider's answer is not a reply in the requested protocol. */
export const notUnderstood = (cause?: unknown): ReparteeError =>
  failed('the provider sent something that is no reply', { transient: true, cause })

export const endedEarly = (): ReparteeError => failed("the provider's reply broke off before its end", { transient: true })

/** The provider reported a failure of its own during the reply, with this message or value. */
export const brokeOff = (words: unknown): ReparteeError =>
  failed('the provider reported a failure in the middle of its reply', {
    transient: true,
    cause: new Error(typeof words === 'string' ? words : inspect(words, { breakLength: Number.POSITIVE_INFINITY })),
  })

/** No memory is left for the answer. */
export const sendsTooMuch = (): ReparteeError => failed('its provider sends too much at the same time', { transient: true })

export const stopped = (signal: AbortSignal): ReparteeError => failed('it was stopped', { cause: signal.reason })

/** An answer with an error status. Its message is the provider's, which is never logged; `status` and `terms` are logged. */
export class Refusal extends Error {
  readonly status: number
  /** The short terms in the provider's error, e.g. `code: model_not_found`, for the log. They quote nothing. */
  readonly terms: Record<string, string>

  constructor(status: number, words: string) {
    super(words)
    this.status = status
    this.terms = termsOf(words)
  }
}

const MAX_TERM_CHARS = 60
/** Words or short numbers. A key mixes letters with digits. */
const TERM = /^(?:[A-Za-z]{1,24}|\d{1,4})(?:[\]_.[-]+(?:[A-Za-z]{1,24}|\d{1,4}))*$/

/** Returns the short names in an error body of OpenAI, Anthropic, Google or a compatible provider. Omits the message, which may quote a prompt or key. */
function termsOf(words: string): Record<string, string> {
  try {
    const { error } = JSON.parse(words) as { error?: Record<string, unknown> | null }
    const terms = ['type', 'code', 'param', 'status'].map((name) => [name, String(error?.[name] ?? '')] as const)
    return Object.fromEntries(terms.filter(([, term]) => term.length <= MAX_TERM_CHARS && TERM.test(term)))
  } catch {
    return {}
  }
}

/** The server does not support a model protocol. */
export const aWebPage = (): ReparteeError =>
  failed('a web page came instead of a reply; is the base URL of its provider right, with its path?')

/** Transient statuses below 500. */
const PASSING = [408, 409, 425, 429]

export function refused(status: number, headers: IncomingHttpHeaders, words: string): ReparteeError {
  return failed(`the provider answered ${status}`, {
    transient: status >= 500 || PASSING.includes(status),
    retryAfter: retryAfterOf(headers),
    cause: new Refusal(status, words),
  })
}

/** In seconds. Longer waits are cut. */
const MAX_RETRY_AFTER = 86_400

/** Returns whole seconds, rounded up, at most a day, from `retry-after-ms`, or from `Retry-After` as seconds or a date. */
function retryAfterOf({ 'retry-after': after, 'retry-after-ms': afterMs }: IncomingHttpHeaders): number | undefined {
  const ms = typeof afterMs === 'string' && afterMs !== '' ? Number(afterMs) : Number.NaN
  if (Number.isFinite(ms)) return secondsOf(ms / 1000)
  if (after === undefined || after.trim() === '') return undefined
  const seconds = Number.isFinite(Number(after)) ? Number(after) : (Date.parse(after) - Date.now()) / 1000
  return Number.isFinite(seconds) ? secondsOf(seconds) : undefined
}

const secondsOf = (seconds: number): number => Math.min(MAX_RETRY_AFTER, Math.max(0, Math.ceil(seconds)))
