import { ReparteeError } from './core/errors.ts'
import { Refusal } from './models/failure.ts'

/** What a log may say of an error, and of what caused it: kind, words and place. A parser's words quote what it read, and a provider's are its own: they stay out. */
export function toLogged(error: unknown): object {
  const { name, code, message, stack = '', cause } = error as Error & { code?: string }
  const frames = stack.slice(stack.indexOf('\n    at ') + 1)
  const quotes = name === 'SyntaxError' || (name === 'Error' && code === undefined)
  const words = quotes ? {} : { message }
  const because = cause instanceof Error ? { cause: toLogged(cause) } : {}
  if (error instanceof Refusal) return { status: error.status, ...error.terms }
  // Where a failure is foreseen its place says nothing.
  const place = error instanceof ReparteeError && code !== 'internal_error' ? {} : { stack: frames }
  return { type: name, code, ...words, ...place, ...because }
}
