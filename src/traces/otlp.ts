import type { Attributes, AttributeValue } from '../core/ports/tracer.ts'
import type { TraceContext } from './context.ts'

export interface EndedSpan {
  context: TraceContext
  parentSpanId: string | undefined
  name: string
  kind: 'internal' | 'client'
  /** Milliseconds since 1970, with fractions. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  /** The type of the error. Undefined after success. */
  error: string | undefined
}

/** Enumeration values of the protocol. */
const KINDS = { internal: 1, client: 3 }
const ERROR = 2
const IS_SAMPLED = 1

/** The body of an export (OTLP 1.x, JSON Protobuf encoding). */
export function toOtlp(spans: readonly EndedSpan[], resource: Attributes, scope: { name: string; version: string }): string {
  const scopeSpans = [{ scope, spans: spans.map(toSpan) }]
  return JSON.stringify({ resourceSpans: [{ resource: { attributes: toPairs(resource) }, scopeSpans }] })
}

function toSpan({ context, parentSpanId, name, kind, startedAt, endedAt, attributes, error }: EndedSpan): object {
  const { traceId, spanId, traceState } = context
  return {
    traceId,
    spanId,
    ...(traceState === undefined ? {} : { traceState }),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    flags: IS_SAMPLED,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: toNanos(startedAt),
    endTimeUnixNano: toNanos(endedAt),
    attributes: toPairs(error === undefined ? attributes : { ...attributes, 'error.type': error }),
    status: error === undefined ? {} : { code: ERROR, message: error },
  }
}

/** Returns nanoseconds as text, because 64-bit numbers are strings in this encoding. */
const toNanos = (ms: number): string => `${Math.round(ms * 1_000)}000`

const toPairs = (attributes: Attributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: toValue(value) }]))

function toValue(value: AttributeValue): object {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  return { arrayValue: { values: value.map((text) => ({ stringValue: text })) } }
}
