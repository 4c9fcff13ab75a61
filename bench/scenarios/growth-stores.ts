import { openNewFolder } from '../../src/store/backup/move/folder-place.ts'
import { openNewPostgres } from '../../src/store/backup/move/postgres-place.ts'
import { query } from '../../test/support/postgres.ts'
import { type AgentPlan, type Filled, fill } from '../fill.ts'
import type { Engine, Stage, System } from '../stage.ts'
import { inBatches } from '../turns.ts'
import { addDocuments } from './knowledge.ts'

/** The content of the large store. */
export interface Plan {
  /** Sessions by their length. There are so many that measuring hardly makes them longer. */
  lengths: AgentPlan[]
  /** Messages of the longest session. */
  longest: number
  /** Numbers of sessions of the agents whose lists are measured. */
  lists: number[]
  /** Number of further agents, each with 100 sessions of 10 messages. */
  others: number
  /** How many of the other agents have a document. */
  withDocuments: number
}

const LENGTHS: AgentPlan[] = [
  { messages: 10, sessions: 2_000 },
  { messages: 100, sessions: 1_000 },
  { messages: 1_000, sessions: 200 },
  { messages: 10_000, sessions: 40 },
]
const LISTS = [1_000, 10_000, 100_000, 1_000_000]
const usual: Plan = { lengths: LENGTHS, longest: 1_000_000, lists: LISTS, others: 1_000, withDocuments: 300 }
export const PLANS: Record<'quick' | 'usual' | 'full', Plan> = {
  quick: { lengths: LENGTHS.slice(0, 2), longest: 20_000, lists: LISTS.slice(0, 2), others: 100, withDocuments: 20 },
  usual,
  full: { ...usual, others: 10_001, withDocuments: 10_000 },
}
const OTHER: AgentPlan = { sessions: 100, messages: 10 }
const SESSIONS_OF_ONE_USER = 10
const AT_ONCE = 32

export interface Stores {
  large: System
  byLength: Filled[]
  longest: Filled
  byList: Filled[]
  /** One of the other agents. */
  other: Filled
  /** Description of the large store. */
  words: string
  /** Messages of all agents. */
  messages: { large: number; small: number }
  /** A store with one agent, which has the size of the other agents. */
  small: System
  only: Filled
}

export async function openStores(engine: Engine, stage: Stage, plan: Plan, tell: (text: string) => void): Promise<Stores> {
  const { lengths, longest, lists, others, withDocuments } = plan
  const all: AgentPlan[] = [
    ...lengths,
    { sessions: 1, messages: longest },
    ...lists.map((sessions) => ({ sessions, messages: 0, ofOneUser: SESSIONS_OF_ONE_USER })),
    ...Array.from({ length: others }, () => OTHER),
  ]
  const [large, filled] = await filledService(engine, stage, all, tell)
  const [small, [only]] = await filledService(engine, stage, [OTHER], tell)
  const rest = filled.slice(-others)
  tell(`${withDocuments} agents get a document`)
  await inBatches(withDocuments, AT_ONCE, (i) => addDocuments(large, rest[1 + i]!.agentId, 1))
  const messages = all.reduce((sum, { sessions, messages }) => sum + sessions * messages, 0)
  return {
    large,
    byLength: filled.slice(0, lengths.length),
    longest: filled[lengths.length]!,
    byList: filled.slice(lengths.length + 1, lengths.length + 1 + lists.length),
    other: rest[0]!,
    words: `${all.length.toLocaleString('en')} agents and ${Number((messages / 1e6).toPrecision(2))} million messages`,
    messages: { large: messages, small: OTHER.sessions * OTHER.messages },
    small,
    only: only!,
  }
}

async function filledService(
  engine: Engine,
  stage: Stage,
  plans: AgentPlan[],
  tell: (text: string) => void,
): Promise<[System, Filled[]]> {
  const place = await stage.place(engine)
  const target = place.database === undefined ? openNewFolder(place.folder) : await openNewPostgres(place.database, 'the bench')
  const filled = await fill(target, plans, tell)
  if (place.database !== undefined) await query(place.database, 'VACUUM (FREEZE, ANALYZE)')
  return [await stage.service(place), filled]
}
