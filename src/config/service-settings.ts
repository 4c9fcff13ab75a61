import type { Setting } from './setting.ts'

/** Address, data, keys and rates of the service, and how it stops. */
export const serviceSettings = {
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
    form: 'url',
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
