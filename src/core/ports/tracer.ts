export type AttributeValue = string | number | boolean | readonly string[]
/** What is undefined is left out. */
export type Attributes = Record<string, AttributeValue | undefined>

/** A piece of work while it is done. */
export interface Span {
  /** Calls `attributes` only if the span is recorded. */
  set(attributes: () => Attributes): void
}

export interface SpanStart {
  name: string
  /** `client`: somebody else is asked. */
  kind: 'internal' | 'client'
  attributes: Attributes
}

/** What a caller says of the trace that its request belongs to (W3C Trace Context). */
export interface TraceHeaders {
  traceparent?: unknown
  tracestate?: unknown
  [other: string]: unknown
}

/** Tells of work as a tree of spans, for whoever traces it. Never changes how the work ends. */
export interface Tracer {
  /** Texts of messages are wanted, too. */
  readonly tellsText: boolean
  /** Does work as a part of the caller's trace. */
  within<T>(caller: TraceHeaders, work: () => T): T
  /** Does work as a part of the work that it is called in. Where it throws, the span says so. Calls `start` only if the span is recorded. */
  span<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T>
}

const noSpan: Span = { set() {} }

/** For when nobody traces. */
export const noTracer: Tracer = {
  tellsText: false,
  within: (_caller, work) => work(),
  span: (_start, work) => work(noSpan),
}
