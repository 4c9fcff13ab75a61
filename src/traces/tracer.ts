import { AsyncLocalStorage } from 'node:async_hooks'
import { ReparteeError } from '../core/errors.ts'
import { type Attributes, noTracer, type Span, type SpanStart, type TraceHeaders, type Tracer } from '../core/ports/tracer.ts'
import { newSpanId, newTraceId, readCaller, type TraceContext } from './context.ts'
import type { EndedSpan } from './otlp.ts'
import type { Sampler } from './sampler.ts'

export interface TracerOptions {
  sampler: Sampler
  recordsText: boolean
  onEnd: (span: EndedSpan) => void
}

/** Tracks the current span by the asynchronous call chain. */
export class SpanTracer implements Tracer {
  readonly recordsText: boolean
  readonly #options: TracerOptions
  readonly #context = new AsyncLocalStorage<TraceContext>()

  constructor(options: TracerOptions) {
    this.recordsText = options.recordsText
    this.#options = options
  }

  within<T>(caller: TraceHeaders, work: () => T): T {
    const context = readCaller(caller)
    return context === undefined ? work() : this.#context.run(context, work)
  }

  span<T>(start: () => SpanStart, work: (span: Span) => Promise<T>): Promise<T> {
    const parent = this.#context.getStore()
    const traceId = parent?.traceId ?? newTraceId()
    const isSampled = this.#options.sampler(traceId, parent)
    const context = { traceId, spanId: newSpanId(), isSampled, traceState: parent?.traceState }
    return this.#context.run(context, () =>
      isSampled ? this.#record(start(), parent?.spanId, context, work) : noTracer.span(start, work),
    )
  }

  async #record<T>(
    { name, kind, attributes }: SpanStart,
    parentSpanId: string | undefined,
    context: TraceContext,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const all: Attributes = { ...attributes }
    const startedAt = now()
    let error: string | undefined
    try {
      return await work({ set: (more) => void Object.assign(all, more()) })
    } catch (thrown) {
      error = typeOf(thrown)
      throw thrown
    } finally {
      this.#options.onEnd({ context, parentSpanId, name, kind, startedAt, endedAt: now(), attributes: all, error })
    }
  }
}

const now = (): number => performance.timeOrigin + performance.now()

/** Returns the type of an error: few distinct values, and no words that might quote a user. */
const typeOf = (thrown: unknown): string =>
  thrown instanceof ReparteeError ? thrown.code : thrown instanceof Error ? thrown.name : 'unknown'
