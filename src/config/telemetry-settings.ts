import { MAX_MS, type Setting } from './setting.ts'

/** Traces, with the names that OpenTelemetry gives them. */
export const telemetrySettings = {
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: 'text',
    form: 'url',
    about:
      'Address of a collector that takes OTLP over HTTP, like `http://localhost:4318`; traces go to `/v1/traces` of it. Left out: nothing is traced.',
  },
  otlpTracesEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: 'text',
    form: 'url',
    about: 'The whole address for traces, where it is another.',
  },
  otlpHeaders: {
    env: 'OTEL_EXPORTER_OTLP_HEADERS',
    kind: 'secret',
    about: 'Headers for the collector, `name=value` with commas between; values are percent-encoded.',
  },
  otlpTimeoutMs: {
    env: 'OTEL_EXPORTER_OTLP_TIMEOUT',
    kind: 'integer',
    fallback: 10_000,
    min: 1,
    max: MAX_MS,
    about: 'How long one export may take, in milliseconds.',
  },
  otelEveryMs: {
    env: 'OTEL_BSP_SCHEDULE_DELAY',
    kind: 'integer',
    fallback: 5_000,
    min: 1,
    max: MAX_MS,
    about: 'How long spans wait to be sent together, in milliseconds.',
  },
  otelServiceName: {
    env: 'OTEL_SERVICE_NAME',
    kind: 'text',
    fallback: 'repartee',
    about: 'Name of the service in traces.',
  },
  otelResourceAttributes: {
    env: 'OTEL_RESOURCE_ATTRIBUTES',
    kind: 'text',
    about: 'What else is said of the service, `name=value` with commas between, like `deployment.environment.name=production`.',
  },
  otelSampler: {
    env: 'OTEL_TRACES_SAMPLER',
    kind: 'text',
    fallback: 'parentbased_always_on',
    about:
      'Which traces are told: `always_on`, `always_off`, `traceidratio`, or with `parentbased_` before it, which does as the caller does where the caller traces.',
  },
  otelSamplerArgument: {
    env: 'OTEL_TRACES_SAMPLER_ARG',
    kind: 'text',
    about: 'For `traceidratio`: the share of traces, from 0 to 1.',
  },
  otelCapture: {
    env: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
    kind: 'text',
    fallback: 'false',
    about: 'With `true` (or `SPAN_ONLY`, `SPAN_AND_EVENT`) spans hold the texts of messages, prompts and replies, too.',
  },
  otelDisabled: {
    env: 'OTEL_SDK_DISABLED',
    kind: 'text',
    fallback: 'false',
    about: 'With `true` nothing is traced, whatever else is set.',
  },
} as const satisfies Record<string, Setting>
