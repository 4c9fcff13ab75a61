/** A setting. `docs/configuration.md` is generated from this table. */
export interface Setting {
  /** The environment variable. The configuration file uses camel case without the prefix: `REPARTEE_MAX_BODY_BYTES` is `maxBodyBytes`. */
  env: string
  kind: 'text' | 'integer' | 'switch' | 'secret' | 'providers'
  fallback?: string | number | boolean
  min?: number
  max?: number
  about: string
}

/** 2^31 - 1: the longest timer. */
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
  databaseUrl: {
    env: 'REPARTEE_DATABASE_URL',
    kind: 'secret',
    about: 'A PostgreSQL database, `postgres://user:password@host:port/name`, instead of the embedded store.',
  },
  databaseConnections: {
    env: 'REPARTEE_DATABASE_CONNECTIONS',
    kind: 'integer',
    fallback: 10,
    min: 1,
    max: 1_000,
    about: 'Connections to PostgreSQL that this process opens at most for its requests.',
  },
  databasePooler: {
    env: 'REPARTEE_DATABASE_POOLER',
    kind: 'switch',
    fallback: false,
    about:
      'The address leads to a pooler that lends a connection to each transaction (PgBouncer, Supavisor): statements are not prepared, and nothing is listened for.',
  },
  pgvectorFrom: {
    env: 'REPARTEE_PGVECTOR_FROM',
    kind: 'integer',
    fallback: 200_000,
    min: 1_000,
    max: 2_147_483_647,
    about:
      'Vectors from which on a knowledge base in PostgreSQL is searched by pgvector, where the database has that extension (0.7 or newer), and no longer in the memory of each process.',
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
  allowedOrigins: {
    env: 'REPARTEE_ALLOWED_ORIGINS',
    kind: 'text',
    about:
      'Origins of web pages that may call with tokens of users, like `https://example.com`, several with commas between; `*` is any. Left out: none.',
  },
  tokenSecret: {
    env: 'REPARTEE_TOKEN_SECRET',
    kind: 'secret',
    about:
      'Signs the tokens of users, together with a random secret that is stored in the database. With it, a copy of the database alone cannot make tokens. All processes need the same one. Changing it ends all tokens.',
  },
  trustProxy: {
    env: 'REPARTEE_TRUST_PROXY',
    kind: 'text',
    about:
      'Addresses of the proxies in front, or networks like `10.0.0.0/8`, several with commas between: what they say in `X-Forwarded-For` of the caller is believed.',
  },
  rateLimit: {
    env: 'REPARTEE_RATE_LIMIT',
    kind: 'switch',
    fallback: true,
    about: 'Hold callers to the rates below. Off: to none.',
  },
  keyRequestsPerMinute: {
    env: 'REPARTEE_KEY_REQUESTS_PER_MINUTE',
    kind: 'integer',
    fallback: 6_000,
    min: 1,
    max: 1_000_000_000,
    about:
      'Requests with one API key in a minute, which begins with the first. Each user with a token of the key may make as many.',
  },
  userSendsPerMinute: {
    env: 'REPARTEE_USER_SENDS_PER_MINUTE',
    kind: 'integer',
    fallback: 60,
    min: 1,
    max: 1_000_000_000,
    about:
      'Messages and regenerated replies of one end user of an agent in a minute. Each session without an `externalUserId` counts by itself. Creating a session with a token counts as a message, and so does each message that the session starts with.',
  },
  badKeysPerMinute: {
    env: 'REPARTEE_BAD_KEYS_PER_MINUTE',
    kind: 'integer',
    fallback: 60,
    min: 1,
    max: 1_000_000_000,
    about:
      'Requests without a good API key from one address in a minute, in each process. Requests with a good key are not touched by it.',
  },
  sample: { env: 'REPARTEE_SAMPLE', kind: 'switch', fallback: true, about: 'Make the sample agent at the first start.' },
  logLevel: {
    env: 'REPARTEE_LOG_LEVEL',
    kind: 'text',
    about:
      '`fatal`, `error`, `warn`, `info`, `debug` or `silent`; left out it is `info`, and `warn` where the service is started by hand at a terminal. No level logs a text of a message or a key.',
  },
  model: {
    env: 'REPARTEE_MODEL',
    kind: 'text',
    fallback: 'extractive',
    about: 'Model of agents that name none: `extractive`, or `PROVIDER/NAME`.',
  },
  embeddingModel: {
    env: 'REPARTEE_EMBEDDING_MODEL',
    kind: 'text',
    about:
      'Embedding model of agents that search by meaning and name none. Left out: `openai/text-embedding-3-small` or `google/gemini-embedding-001`, whichever has a key.',
  },
  modelFolder: {
    env: 'REPARTEE_MODEL_FOLDER',
    kind: 'text',
    about: 'Folder with embedding models in ONNX form, each in a folder of its own, for names like `local/NAME`.',
  },
  embeddingTimeoutMs: {
    env: 'REPARTEE_EMBEDDING_TIMEOUT_MS',
    kind: 'integer',
    fallback: 3_000,
    min: 1,
    max: MAX_MS,
    about: 'How long embedding a question may take; then it is searched by words alone.',
  },
  rerankUrl: {
    env: 'REPARTEE_RERANK_URL',
    kind: 'text',
    about:
      'Address of a reranking model, as Cohere, Jina, Voyage and compatible servers have it, e.g. `https://api.jina.ai/v1/rerank`, for agents with `retrieval.rerank`. Left out: the language model of the agent does it.',
  },
  rerankModel: {
    env: 'REPARTEE_RERANK_MODEL',
    kind: 'text',
    about: 'Name of the reranking model, where its server has several.',
  },
  rerankApiKey: { env: 'REPARTEE_RERANK_API_KEY', kind: 'secret', about: 'Key for the reranking model.' },
  modelTimeoutMs: {
    env: 'REPARTEE_MODEL_TIMEOUT_MS',
    kind: 'integer',
    fallback: 60_000,
    min: 1,
    max: MAX_MS,
    about: 'How long a model may be silent: to its first token, and between two.',
  },
  openaiApiKey: { env: 'OPENAI_API_KEY', kind: 'secret', about: 'Key for models named `openai/…`.' },
  openaiBaseUrl: {
    env: 'OPENAI_BASE_URL',
    kind: 'text',
    about: 'Address for models named `openai/…`, where it is not that of OpenAI, e.g. `http://localhost:8000/v1`.',
  },
  openaiProtocol: {
    env: 'REPARTEE_OPENAI_PROTOCOL',
    kind: 'text',
    fallback: 'chat',
    about: 'How models named `openai/…` are spoken to: `chat` (chat completions) or `responses`.',
  },
  anthropicApiKey: { env: 'ANTHROPIC_API_KEY', kind: 'secret', about: 'Key for models named `anthropic/…`.' },
  anthropicBaseUrl: {
    env: 'ANTHROPIC_BASE_URL',
    kind: 'text',
    about: 'Address for models named `anthropic/…`, where it is not that of Anthropic; with or without `/v1` at its end.',
  },
  googleApiKey: { env: 'GOOGLE_GENERATIVE_AI_API_KEY', kind: 'secret', about: 'Key for models named `google/…`.' },
  geminiApiKey: { env: 'GEMINI_API_KEY', kind: 'secret', about: 'The same, where `GOOGLE_GENERATIVE_AI_API_KEY` is not set.' },
  googleBaseUrl: {
    env: 'GOOGLE_GENERATIVE_AI_BASE_URL',
    kind: 'text',
    about: 'Address for models named `google/…`, where it is not that of Google.',
  },
  ollamaHost: {
    env: 'OLLAMA_HOST',
    kind: 'text',
    about: 'Where Ollama is, for models named `ollama/…`: a host, `host:port` or a URL, e.g. `localhost`.',
  },
  ollamaContextTokens: {
    env: 'REPARTEE_OLLAMA_CONTEXT_TOKENS',
    kind: 'integer',
    fallback: 32_768,
    min: 8_192,
    max: 1_048_576,
    about: 'Largest context window of a model on Ollama. A longer prompt fails.',
  },
  providers: {
    env: 'REPARTEE_PROVIDERS',
    kind: 'providers',
    about: 'Further providers by name, as JSON; see [compatible providers](providers/compatible.md).',
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
  maxDelayMs: {
    env: 'REPARTEE_MAX_DELAY_MS',
    kind: 'integer',
    fallback: 150,
    min: 0,
    max: MAX_MS,
    about:
      'How long work may wait for the process before some of what is new is refused with 503, so that the rest is served in time. 0: nothing is refused.',
  },
  maxConnections: {
    env: 'REPARTEE_MAX_CONNECTIONS',
    kind: 'integer',
    fallback: 15_000,
    min: 1,
    about: 'Connections of callers at once; more are closed as they come.',
  },
  uploadsAtOnce: {
    env: 'REPARTEE_UPLOADS_AT_ONCE',
    kind: 'integer',
    fallback: 8,
    min: 1,
    about:
      'Documents of more than 1 MiB that are taken in at once, each held in memory until it is stored. Others wait. One caller may have as many of these places as stay free, so up to half.',
  },
  heldBytes: {
    env: 'REPARTEE_HELD_BYTES',
    kind: 'integer',
    fallback: 268_435_456,
    min: 1_048_576,
    about:
      'Bytes of memory for the bodies of requests that are running, and for answers that are not read yet. JSON in a body counts as up to 16 times its size, because that is what it can take when it is parsed; bodies up to 4 KiB do not count. An answer of more than 16,384 characters counts as 3 bytes a character, and a long list, which is read in parts, as 2 MiB. One caller may have as much as stays free, so up to half. More is refused with 503.',
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
  leaseMs: {
    env: 'REPARTEE_LEASE_MS',
    kind: 'integer',
    fallback: 30_000,
    min: 1_000,
    max: MAX_MS,
    about:
      'After how long without a sign of life a running turn counts as failed. Turns say that they still run three times in this time.',
  },
  modelRetries: {
    env: 'REPARTEE_MODEL_RETRIES',
    kind: 'integer',
    fallback: 2,
    min: 0,
    max: 10,
    about:
      'How often the same model is asked again after a failure that may pass (429, 5xx, a broken connection, a reply that broke off).',
  },
  modelConcurrency: {
    env: 'REPARTEE_MODEL_CONCURRENCY',
    kind: 'integer',
    fallback: 4_096,
    min: 1,
    about:
      'Model calls at the same time. A key may have as many as remain free, up to half of them, and an agent two thirds. Other calls wait.',
  },
  breaker: {
    env: 'REPARTEE_BREAKER',
    kind: 'switch',
    fallback: true,
    about: "Refuse an agent's calls to a model for a while after many failures in a row.",
  },
  breakerFailures: {
    env: 'REPARTEE_BREAKER_FAILURES',
    kind: 'integer',
    fallback: 10,
    min: 1,
    about: 'Failures in a row of an agent with a model after which its calls to that model are refused.',
  },
  breakerPauseMs: {
    env: 'REPARTEE_BREAKER_PAUSE_MS',
    kind: 'integer',
    fallback: 10_000,
    min: 1,
    max: MAX_MS,
    about: 'How long they are refused before one call may try.',
  },
  sideCallTimeoutMs: {
    env: 'REPARTEE_SIDE_CALL_TIMEOUT_MS',
    kind: 'integer',
    fallback: 8_000,
    min: 1,
    max: MAX_MS,
    about: 'How long a model may take for what goes with a reply: a rewritten question, follow-up questions, a name, a summary.',
  },
  queryRewriting: {
    env: 'REPARTEE_QUERY_REWRITING',
    kind: 'switch',
    fallback: true,
    about: 'Let the model put a question that cannot stand alone into words that can, before it is searched.',
  },
  maxReplyChars: {
    env: 'REPARTEE_MAX_REPLY_CHARS',
    kind: 'integer',
    fallback: 200_000,
    min: 1,
    about: 'Longest reply of a model; one of more counts as a failure.',
  },
  historyTokens: {
    env: 'REPARTEE_HISTORY_TOKENS',
    kind: 'integer',
    fallback: 6_000,
    min: 0,
    about:
      'Room for earlier messages in a prompt, in tokens (estimated: one for 3.5 bytes of UTF-8). What outgrows it is summed up.',
  },
  passageTokens: {
    env: 'REPARTEE_PASSAGE_TOKENS',
    kind: 'integer',
    fallback: 8_000,
    min: 0,
    about: 'Room for passages in a prompt, in tokens; the best one always goes in.',
  },
  heartbeatMs: {
    env: 'REPARTEE_HEARTBEAT_MS',
    kind: 'integer',
    fallback: 15_000,
    min: 50,
    max: MAX_MS,
    about: 'After how long without an event a comment keeps a stream open.',
  },
  streamStallMs: {
    env: 'REPARTEE_STREAM_STALL_MS',
    kind: 'integer',
    fallback: 30_000,
    min: 50,
    max: MAX_MS,
    about: 'A reader of a stream, or of a long list, that takes nothing for so long is cut off. It can take a stream up again.',
  },
  listReadMs: {
    env: 'REPARTEE_LIST_READ_MS',
    kind: 'integer',
    fallback: 120_000,
    min: 50,
    max: MAX_MS,
    about:
      'A reader of a session list without `limit` for whom the service waits so long in all is cut off, because the list holds an old state of the database. Pages hold none.',
  },
  keepAnswersMs: {
    env: 'REPARTEE_KEEP_ANSWERS_MS',
    kind: 'integer',
    fallback: 86_400_000,
    min: 1_000,
    about: 'How long the answer to a request with an Idempotency-Key is kept for replays.',
  },
  keepTraces: {
    env: 'REPARTEE_KEEP_TRACES',
    kind: 'switch',
    fallback: true,
    about:
      'How each reply came about is kept with it, so that it can be looked at later: one to two kilobytes each. Off: only where the sender asks for it.',
  },
  auditDays: {
    env: 'REPARTEE_AUDIT_DAYS',
    kind: 'integer',
    fallback: 365,
    min: 1,
    max: 36_500,
    about: 'How long entries of the audit log are kept.',
  },
  webhookTimeoutMs: {
    env: 'REPARTEE_WEBHOOK_TIMEOUT_MS',
    kind: 'integer',
    fallback: 15_000,
    min: 100,
    max: 120_000,
    about: 'How long the receiver of a webhook may take to answer.',
  },
  webhookRetrySeconds: {
    env: 'REPARTEE_WEBHOOK_RETRY_SECONDS',
    kind: 'text',
    fallback: '5,300,1800,7200,18000,36000,36000',
    about:
      'Seconds before each further attempt of a delivery to a webhook, with commas between; each is stretched by up to a fifth. When all are used up, the delivery has failed.',
  },
  webhookDays: {
    env: 'REPARTEE_WEBHOOK_DAYS',
    kind: 'integer',
    fallback: 30,
    min: 1,
    max: 36_500,
    about: 'How long deliveries to webhooks that arrived or failed can be looked at and repeated.',
  },
  prices: {
    env: 'REPARTEE_PRICES',
    kind: 'text',
    about: 'File with the prices of models, for `usage.cost`. Left out: `prices.json` in the data folder, where there is one.',
  },
  fetchAllow: {
    env: 'REPARTEE_FETCH_ALLOW',
    kind: 'text',
    fallback: '',
    about:
      'Hosts, as `host:port` with commas between, from which pages may be fetched, and to which webhooks may be sent, although they are of a private network. All others must be of the public internet.',
  },
  fetchTimeoutMs: {
    env: 'REPARTEE_FETCH_TIMEOUT_MS',
    kind: 'integer',
    fallback: 30_000,
    min: 100,
    max: MAX_MS,
    about: 'How long fetching one page may take. A third of it to the first byte.',
  },
  crawlDelayMs: {
    env: 'REPARTEE_CRAWL_DELAY_MS',
    kind: 'integer',
    fallback: 250,
    min: 0,
    max: MAX_MS,
    about: "Pause between two pages of a site; a longer one that the site's robots.txt asks for, up to 10 s, is kept.",
  },
  siteTurnMs: {
    env: 'REPARTEE_SITE_TURN_MS',
    kind: 'integer',
    fallback: 60_000,
    min: 0,
    max: MAX_MS,
    about:
      'Eight sites are read at the same time, two of one agent. After how long one makes room for a site of another agent that waits; it goes on later.',
  },
  readTimeoutMs: {
    env: 'REPARTEE_READ_TIMEOUT_MS',
    kind: 'integer',
    fallback: 30_000,
    min: 100,
    max: MAX_MS,
    about: 'How long reading one document may take.',
  },
  readMemoryMb: {
    env: 'REPARTEE_READ_MEMORY_MB',
    kind: 'integer',
    fallback: 512,
    min: 128,
    about:
      'How much memory a process that reads documents may take. There is one for small texts and one for other documents, and while documents take long and others wait, up to four more.',
  },
  otlpEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    kind: 'text',
    about:
      'Address of a collector that takes OTLP over HTTP, like `http://localhost:4318`; traces go to `/v1/traces` of it. Left out: nothing is traced.',
  },
  otlpTracesEndpoint: {
    env: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    kind: 'text',
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
  leaveMs: {
    env: 'REPARTEE_LEAVE_MS',
    kind: 'integer',
    fallback: 0,
    min: 0,
    max: 86_400_000,
    about:
      'How long requests are still served when the service is told to stop, while `/readyz` answers 503: as long as load balancers take to notice.',
  },
  drainMs: {
    env: 'REPARTEE_DRAIN_MS',
    kind: 'integer',
    fallback: 25_000,
    min: 0,
    max: 86_400_000,
    about: 'How long running turns may take to finish when the service is told to stop.',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
