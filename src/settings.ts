/** One setting: how it is named, read, defaulted and explained. `docs/configuration.md` is made from this table. */
export interface Setting {
  /** In the environment. The configuration file names it in camel case without the prefix: `REPARTEE_MAX_BODY_BYTES` is `maxBodyBytes`. */
  env: string
  kind: 'text' | 'integer' | 'switch' | 'secret'
  fallback?: string | number | boolean
  min?: number
  max?: number
  about: string
}

/** 2^31 - 1: the longest that a timer can wait. */
const MAX_MS = 2_147_483_647

export const settings = {
  host: {
    env: 'REPARTEE_HOST',
    kind: 'text',
    fallback: '127.0.0.1',
    about: 'Address to listen on. `0.0.0.0` for every network interface.',
  },
  port: {
    env: 'REPARTEE_PORT',
    kind: 'integer',
    fallback: 8080,
    min: 0,
    max: 65_535,
    about: 'Port to listen on; 0 takes any free one.',
  },
  data: {
    env: 'REPARTEE_DATA',
    kind: 'text',
    fallback: './data',
    about: 'Folder of the embedded store. It belongs to one process at a time.',
  },
  adminKey: {
    env: 'REPARTEE_ADMIN_KEY',
    kind: 'secret',
    about:
      'The admin key, instead of one that is made and printed at the first start. `repartee keys generate` prints one of the right form. A changed value replaces the one before at the next start.',
  },
  publicUrl: {
    env: 'REPARTEE_PUBLIC_URL',
    kind: 'text',
    about: 'Address under which callers reach the service, where it stands behind a proxy.',
  },
  sample: { env: 'REPARTEE_SAMPLE', kind: 'switch', fallback: true, about: 'Make the sample agent at the first start.' },
  logLevel: {
    env: 'REPARTEE_LOG_LEVEL',
    kind: 'text',
    fallback: 'info',
    about: '`fatal`, `error`, `warn`, `info`, `debug` or `silent`. No level logs a text of a message or a key.',
  },
  model: {
    env: 'REPARTEE_MODEL',
    kind: 'text',
    fallback: 'extractive',
    about: 'Model of agents that name none: `extractive`, or `openai/NAME`.',
  },
  modelTimeoutMs: {
    env: 'REPARTEE_MODEL_TIMEOUT_MS',
    kind: 'integer',
    fallback: 60_000,
    min: 1,
    max: MAX_MS,
    about: 'How long a model may take to its first byte.',
  },
  openaiApiKey: { env: 'OPENAI_API_KEY', kind: 'secret', about: 'Key for models named `openai/…`.' },
  openaiBaseUrl: {
    env: 'OPENAI_BASE_URL',
    kind: 'text',
    about: 'Address of an OpenAI-compatible service, e.g. `http://localhost:11434/v1`.',
  },
  maxBodyBytes: {
    env: 'REPARTEE_MAX_BODY_BYTES',
    kind: 'integer',
    fallback: 1_048_576,
    min: 1_024,
    about: 'Largest request body.',
  },
  maxUploadBytes: {
    env: 'REPARTEE_MAX_UPLOAD_BYTES',
    kind: 'integer',
    fallback: 52_428_800,
    min: 1_024,
    about: 'Largest document.',
  },
  maxMessageChars: { env: 'REPARTEE_MAX_MESSAGE_CHARS', kind: 'integer', fallback: 32_000, min: 1, about: 'Longest message.' },
  maxContextChars: {
    env: 'REPARTEE_MAX_CONTEXT_CHARS',
    kind: 'integer',
    fallback: 100_000,
    min: 0,
    about: 'Longest `additionalContext`.',
  },
  maxNameChars: {
    env: 'REPARTEE_MAX_NAME_CHARS',
    kind: 'integer',
    fallback: 200,
    min: 1,
    about: 'Longest name of a session, an agent or a key.',
  },
  maxWaitingSends: {
    env: 'REPARTEE_MAX_WAITING_SENDS',
    kind: 'integer',
    fallback: 16,
    min: 0,
    about: 'Sends that may wait for their turn in one session.',
  },
  maxWaitMs: {
    env: 'REPARTEE_MAX_WAIT_MS',
    kind: 'integer',
    fallback: 30_000,
    min: 1,
    max: MAX_MS,
    about: 'How long a send may wait for its turn.',
  },
  turnTimeoutMs: {
    env: 'REPARTEE_TURN_TIMEOUT_MS',
    kind: 'integer',
    fallback: 120_000,
    min: 1,
    max: MAX_MS,
    about: 'How long one turn may take in all.',
  },
  drainMs: {
    env: 'REPARTEE_DRAIN_MS',
    kind: 'integer',
    fallback: 25_000,
    min: 0,
    max: MAX_MS,
    about: 'How long running turns may take to finish when the service is told to stop.',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
