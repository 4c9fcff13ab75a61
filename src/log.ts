import { destination, type Logger, pino } from 'pino'
import { ReparteeError } from './core/errors.ts'
import { Refusal } from './models/transport/failure.ts'

/** If lines cannot be written, for example on a full disk, this many bytes are buffered. Further lines are lost, but nothing else is. */
const MAX_UNWRITTEN_BYTES = 1_048_576
const STDOUT = 1

/** Opens a log with JSON lines on standard output. */
export function openLog(level: string): Logger {
  const output = destination({ dest: STDOUT, sync: true, maxLength: MAX_UNWRITTEN_BYTES })
  // Logging must not fail its caller. Buffered lines are written with the next successful line.
  output.on('error', () => {})
  // Logs the result of `toLogged` unchanged.
  return pino({ level, base: null, serializers: { err: (error: object) => error } }, output)
}

/** Returns the loggable part of an error and its causes. Excludes the messages of parsers, which quote their input, and messages of providers. */
export function toLogged(error: unknown): object {
  const { name, code, message, stack = '', cause } = error as Error & { code?: string }
  const frames = stack.slice(stack.indexOf('\n    at ') + 1)
  const quotes = name === 'SyntaxError' || (name === 'Error' && code === undefined)
  const words = quotes ? {} : { message }
  const because = cause instanceof Error ? { cause: toLogged(cause) } : {}
  if (error instanceof Refusal) return { status: error.status, ...error.terms }
  // The stack of an expected failure is not useful.
  const place = error instanceof ReparteeError && code !== 'internal_error' ? {} : { stack: frames }
  return { type: name, code, ...words, ...place, ...because }
}
