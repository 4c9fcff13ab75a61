import { destination, type Logger, pino } from 'pino'
import { ReparteeError } from './core/errors.ts'
import { Refusal } from './models/transport/failure.ts'

/** Where lines cannot be written, as to a file on a full disk, so many bytes of them wait; what comes then is lost, and nothing else is. */
const MAX_UNWRITTEN_BYTES = 1_048_576
const STDOUT = 1

/** Lines of JSON on standard output. */
export function openLog(level: string): Logger {
  const output = destination({ dest: STDOUT, sync: true, maxLength: MAX_UNWRITTEN_BYTES })
  // Whoever logs must not fail for it; what waits goes out with the next line that can be written.
  output.on('error', () => {})
  // What `toLogged` made is to be told as it is.
  return pino({ level, base: null, serializers: { err: (error: object) => error } }, output)
}

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
