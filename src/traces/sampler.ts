import type { TraceContext } from './context.ts'

/** Returns true if a span of this trace is recorded. Without a parent, the span starts the trace. */
export type Sampler = (traceId: string, parent: TraceContext | undefined) => boolean

const TWO_32 = 2 ** 32

/** Returns the sampler with an OpenTelemetry name (`OTEL_TRACES_SAMPLER` and its argument). Undefined if there is none. */
export function samplerOf(name: string, argument: string | undefined): Sampler | undefined {
  const [, isParentBased, root = ''] = /^(parentbased_)?(.*)$/.exec(name) ?? []
  const share = Number(argument ?? 1)
  const roots: Record<string, (traceId: string) => boolean> = {
    always_on: () => true,
    always_off: () => false,
    traceidratio: (traceId) => Number.parseInt(traceId.slice(-8), 16) / TWO_32 < (Number.isNaN(share) ? 1 : share),
  }
  const sample = roots[root]
  if (sample === undefined) return undefined
  return (traceId, parent) => (isParentBased !== undefined && parent !== undefined ? parent.isSampled : sample(traceId))
}
