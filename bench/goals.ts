export interface Goal {
  group: Group
  what: string
  unit: string
  /** The judged quantity: the measured value, or its ratio to the floor (or to the smallest size). */
  by: 'value' | 'ratio'
  /** Undefined if a figure is only informative. */
  most?: number
  least?: number
  /** The limit with PostgreSQL, if it differs. `null` for none. */
  mostOnPostgres?: number | null
}

export const groups = {
  speed: 'Speed',
  growth: 'Growth',
  search: 'Search',
  weight: 'Weight',
} as const
export type Group = keyof typeof groups

const CPU = 'ms CPU'
const request = (what: string, most: number): Goal => ({
  group: 'speed',
  what,
  unit: CPU,
  by: 'ratio',
  most,
  mostOnPostgres: 1.6,
})
/** A limit in ms, as a ratio to a plain send of the floor (0.16 ms). A ratio holds on any machine. */
const besideSend = (what: string, ms: number): Goal => ({
  group: 'speed',
  what,
  unit: CPU,
  by: 'ratio',
  most: ms / 0.16,
  mostOnPostgres: null,
})
const growth = (what: string, most?: number, unit = CPU): Goal => ({
  group: 'growth',
  what,
  unit,
  by: 'ratio',
  ...(most === undefined ? {} : { most }),
})

/** Returns the goals for a knowledge base with `count` passages. */
function searchGoals(
  count: number,
  { p50, p99, answer, index, memory }: Partial<Record<'p50' | 'p99' | 'answer' | 'index' | 'memory', number>>,
): Record<string, Goal> {
  const size = `${count.toLocaleString('en')} passages`
  const goal = (what: string, unit: string, bound: { most?: number | undefined; least?: number | undefined } = {}): Goal => ({
    group: 'search',
    what,
    unit,
    by: 'value',
    ...(bound.most === undefined ? {} : { most: bound.most }),
    ...(bound.least === undefined ? {} : { least: bound.least }),
  })
  return {
    [`search-${count}-p50`]: goal(`question to ${size}, p50`, 'ms', { most: p50 }),
    [`search-${count}-p99`]: goal(`question to ${size}, p99`, 'ms', { most: p99 }),
    [`answer-${count}-p99`]: goal(`question to ${size}, answered without a model, p99`, 'ms', { most: answer }),
    [`index-${count}`]: goal(`indexing of ${size}`, 'passages/s', { least: index }),
    [`file-${count}`]: goal(`file of ${size}, with their texts`, 'MB'),
    [`memory-${count}`]: goal(`memory of ${size}, when asked`, 'MB', { most: memory }),
  }
}

const weight = (what: string, unit: string, most: number): Goal => ({ group: 'weight', what, unit, by: 'value', most })

/** Goals by figure id, in the order of the report. */
export const goals: Record<string, Goal> = {
  create: request('create a session', 1.4),
  'send-new': request('message and reply, new sessions', 1.6),
  'send-one': request('message and reply, growing sessions', 1.6),
  history: request('page of 50 messages', 1.3),
  list: request('list of 1,000 sessions', 1.2),
  lexical: besideSend('message and reply, 5,000 passages, by words', 0.8),
  hybrid: besideSend('message and reply, 5,000 passages, by words and vectors', 1.2),
  extractive: besideSend('message and reply, 5,000 passages, without a model', 1.2),
  html: besideSend('`format: html` of a reply of 2 kB, on top', 0.4),
  'first-token': { group: 'speed', what: 'first word over the model’s own, p50', unit: 'ms', by: 'value', most: 2 },
  'first-token-p99': { group: 'speed', what: 'first word over the model’s own, p99', unit: 'ms', by: 'value', most: 10 },
  'loop-hold': { group: 'speed', what: 'health answered while vectors are searched, p99', unit: 'ms', by: 'value', most: 5 },
  streams: { group: 'speed', what: 'streams open at once', unit: 'streams', by: 'value', least: 2_000 },
  'streams-kb': { group: 'speed', what: 'memory of an open stream', unit: 'kB', by: 'value', most: 60 },
  'streams-others': { group: 'speed', what: 'others’ requests meanwhile, p99', unit: 'ms', by: 'value' },

  'growth-send': growth('message and reply, 10 messages before it → {to}', 1.1),
  'growth-page': growth('page of messages, start → end of {to} in one session', 1.1),
  'growth-user': growth('list of one user, 1,000 sessions of the agent → {to}', 1.3),
  'growth-user-p50': { group: 'growth', what: 'list of one user among {to} sessions, p50', unit: 'ms', by: 'value', most: 1 },
  'growth-store-send': growth('message and reply, a store of one agent → {to}', 1.1),
  'growth-store-create': growth('create a session, a store of one agent → {to}'),
  'growth-store-history': growth('page of messages, a store of one agent → {to}'),
  'growth-store-list': growth('page of sessions, a store of one agent → {to}'),
  'whole-list': { group: 'growth', what: 'memory of a list of {to} sessions', unit: 'MB', by: 'value', most: 30 },
  'whole-list-others': { group: 'growth', what: 'others’ requests meanwhile, p99', unit: 'ms', by: 'value', most: 20 },

  ...searchGoals(1_000, {}),
  ...searchGoals(10_000, { p50: 2, p99: 8, answer: 20 }),
  ...searchGoals(100_000, { p50: 3, p99: 12, index: 8_000, memory: 50 }),
  ...searchGoals(1_000_000, { p50: 10, p99: 40 }),

  cold: weight('start to first healthy answer', 'ms', 350),
  idle: weight('memory when idle', 'MB', 100),
  install: weight('production install', 'MB', 40),
  packages: weight('packages of the production install', 'packages', 100),
  'install-all': weight('everything that is installed', 'MB', 120),
  'npm-start': weight('`npm start` in a fresh clone to the first grounded answer', 's', 25),
}
