export type AttributeValue = string | number | boolean | readonly string[]
/** Undefined values are omitted. */
export type Attributes = Record<string, AttributeValue | undefined>

/** A running piece of work in a trace. */
export interface Span {
  /** Calls `attributes` only if the span is recorded. */
  set(attributes: () => Attributes): void
}

export interface SpanStart {
  name: string
  /** `client`: a call to another service. */
  kind: 'internal' | 'client'
  attributes: Attributes
}

/** The caller's trace headers (W3C Trace Context). */
export interface TraceHeaders {
  traceparent?: unknown
  tracestate?: unknown
  [other: string]: unknown
}

/** Records work as a tree of spans. Never changes the result of the work. */
export interface Tracer {
  /** True if spans include the texts of messages. */
  readonly recordsText: boolean
  /** Runs work as a part of the caller's trace. */
  within<T>(caller: TraceHeaders, work: () => T): T
  /** Runs work as a child of the current span. If it throws, the span records that. Calls `start` only if the span is recorded. */
  span<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T>
}

const noSpan: Span = { set() {} }

/** Used if tracing is off. */
export const noTracer: Tracer = {
  recordsText: false,
  within: (_caller, work) => work(),
  span: (_start, work) => work(noSpan),
}
