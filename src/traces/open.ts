import { randomUUID } from 'node:crypto'
import { version } from '../core/platform/version.ts'
import type { Attributes, Tracer } from '../core/ports/tracer.ts'
import { Exporter } from './exporter.ts'
import { toOtlp } from './otlp.ts'
import { samplerOf } from './sampler.ts'
import { SpanTracer } from './tracer.ts'

/** Settings with the meaning of OpenTelemetry's variables. */
export interface TraceSettings {
  url: string
  headers: string | undefined
  serviceName: string
  resourceAttributes: string | undefined
  sampler: string
  samplerArgument: string | undefined
  timeoutMs: number
  everyMs: number
  recordsText: boolean
}

export interface OpenTracer {
  tracer: Tracer
  close(): Promise<void>
}

const DEFAULT_SAMPLER = 'parentbased_always_on'

/** Opens a tracer that sends spans to a collector, by OTLP over HTTP. */
export function openTracer(settings: TraceSettings, warn: (about: string, error?: unknown) => void): OpenTracer {
  const resource: Attributes = {
    ...parsePairs(settings.resourceAttributes),
    'service.name': settings.serviceName,
    'service.version': version,
    'service.instance.id': randomUUID(),
  }
  const sampler = samplerOf(settings.sampler, settings.samplerArgument)
  if (sampler === undefined) warn(`OTEL_TRACES_SAMPLER names a sampler that is not known; ${DEFAULT_SAMPLER} is used`)
  const exporter = new Exporter({
    url: settings.url,
    headers: parsePairs(settings.headers),
    timeoutMs: settings.timeoutMs,
    everyMs: settings.everyMs,
    toBody: (spans) => toOtlp(spans, resource, { name: 'repartee', version }),
    warn,
  })
  const tracer = new SpanTracer({
    sampler: sampler ?? samplerOf(DEFAULT_SAMPLER, undefined)!,
    recordsText: settings.recordsText,
    onEnd: (span) => exporter.add(span),
  })
  return { tracer, close: () => exporter.close() }
}

/** Parses comma-separated `name=value` pairs as in W3C Baggage, with percent-encoded values. Malformed pairs are ignored. */
function parsePairs(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    return at < 1 || name === '' ? [] : [[name, decode(pair.slice(at + 1).trim())] as const]
  })
  return Object.fromEntries(pairs)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
