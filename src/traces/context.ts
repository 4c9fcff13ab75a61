import { randomBytes } from 'node:crypto'
import type { TraceHeaders } from '../core/ports/tracer.ts'

/** The current position in a trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** The id of the current span, 16 hexadecimal digits. */
  spanId: string
  isSampled: boolean
  /** The caller's trace state, passed on unchanged. */
  traceState: string | undefined
}

/** W3C Trace Context, level 1, section 3.2. Later versions may append fields after the flags. */
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
const MAX_STATE_CHARS = 512

/** Returns the caller's trace. Undefined if there is none, or it is malformed. */
export function readCaller({ traceparent, tracestate }: TraceHeaders): TraceContext | undefined {
  const [, version, traceId = NO_TRACE, spanId = NO_SPAN, flags = '', more] =
    typeof traceparent === 'string' ? (TRACEPARENT.exec(traceparent) ?? []) : []
  if (version === 'ff' || (version === '00' && more !== undefined) || traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  const isState = typeof tracestate === 'string' && tracestate.length <= MAX_STATE_CHARS
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, traceState: isState ? tracestate : undefined }
}

export const newTraceId = (): string => randomBytes(16).toString('hex')
export const newSpanId = (): string => randomBytes(8).toString('hex')
