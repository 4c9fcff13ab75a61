import type { TraceSettings } from '../traces/open.ts'
import type { Config } from './config.ts'

/** OpenTelemetry's variables, read as its specification defines, ignoring the case of keywords. */
const TRUE = /^true$/i
const TEXT_ON_SPANS = /^(true|span_only|span_and_event)$/i

/** Returns the tracing settings. Undefined if traces are sent nowhere. */
export function traceSettingsOf(config: Config): TraceSettings | undefined {
  const { otlpEndpoint, otlpTracesEndpoint } = config
  const url = otlpTracesEndpoint ?? (otlpEndpoint && `${otlpEndpoint.replace(/\/$/, '')}/v1/traces`)
  if (url === undefined || TRUE.test(config.otelDisabled)) return undefined
  return {
    url,
    headers: config.otlpHeaders,
    serviceName: config.otelServiceName,
    resourceAttributes: config.otelResourceAttributes,
    sampler: config.otelSampler,
    samplerArgument: config.otelSamplerArgument,
    timeoutMs: config.otlpTimeoutMs,
    everyMs: config.otelEveryMs,
    recordsText: TEXT_ON_SPANS.test(config.otelCapture),
  }
}
