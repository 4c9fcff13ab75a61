import { compared, type Figure, type Options, type Scenario } from '../figures.ts'
import type { Filled } from '../fill.ts'
import { type Engine, Stage, type System } from '../stage.ts'
import { type Cost, inTurns, measure, median, warm } from '../turns.ts'
import { openStores, PLANS, type Stores } from './growth-stores.ts'
import { sendText } from './requests.ts'
import { wholeList } from './whole-list.ts'

const CONNECTIONS = 4
const MESSAGE = 'Who pays for the oil of the lamps?'

/** Returns the next request. */
type Next = () => string
type Work = (system: System, filled: Filled) => Next

const send: Work = (system, { agentId, sessionIds }) =>
  inTurns(sessionIds.map((id) => sendText(system, agentId, id, { message: MESSAGE })))

const pageAfter = (system: System, { agentId, sessionIds }: Filled, cursor = ''): Next =>
  inTurns(
    sessionIds.map((id) =>
      system.text('GET', `/agents/${agentId}/sessions/${id}/messages?limit=50${cursor && `&cursor=${cursor}`}`),
    ),
  )

const listOfUser: Work = (system, { agentId, userId }) => {
  const text = system.text('GET', `/agents/${agentId}/sessions?externalUserId=${userId}`)
  return () => text
}

/** Requests compared between the large and the small store. */
const ANYWHERE: Record<string, Work> = {
  send,
  create: (system, { agentId }) => inTurns([system.text('POST', `/agents/${agentId}/sessions`, {})]),
  history: (system, filled) => pageAfter(system, filled),
  list: (system, { agentId }) => inTurns([system.text('GET', `/agents/${agentId}/sessions?limit=50`)]),
}

/** Measures how the cost of requests grows with stored data: in one large store, compared with a small one. */
export const growth: Scenario = {
  name: 'growth',
  figures: [
    'growth-send',
    'growth-page',
    'growth-user',
    'growth-user-p50',
    ...Object.keys(ANYWHERE).map((what) => `growth-store-${what}`),
    'whole-list',
    'whole-list-others',
  ],
  async run(options) {
    const figures: Figure[] = []
    for (const engine of options.engines) {
      const stage = new Stage()
      try {
        const tell = (text: string) => options.tell(`growth on ${engine}: ${text}`)
        const stores = await openStores(engine, stage, PLANS[options.size], tell)
        tell('is measured')
        figures.push(...(await inLarge(engine, stores, options)), ...(await besideSmall(engine, stores, options)))
        if (options.wants('whole-list') || options.wants('whole-list-others'))
          figures.push(
            ...(await wholeList(
              engine,
              stores.large,
              stores.byList[PLANS[options.size].lists.length > 2 ? 2 : 1]!,
              stores.other,
            )),
          )
      } finally {
        await stage.end()
      }
    }
    return figures
  },
}

async function inLarge(engine: Engine, { large, byLength, longest, byList }: Stores, options: Options): Promise<Figure[]> {
  const plan = PLANS[options.size]
  const figures: Figure[] = []
  if (options.wants('growth-send')) {
    const works = byLength.map((filled, i) => [plan.lengths[i]!.messages, send(large, filled)] as const)
    figures.push(...(await bySize('growth-send', engine, large, works, options)))
  }
  if (options.wants('growth-page')) {
    const { messageIds } = longest
    const works = [0, 0.25, 0.5, 0.75, 0.98].map((share) => {
      const at = Math.floor(messageIds.length * share)
      const place = Math.round(((at + 1) / messageIds.length) * plan.longest)
      return [place, pageAfter(large, longest, messageIds[at])] as const
    })
    figures.push(...(await bySize('growth-page', engine, large, works, options)))
  }
  if (options.wants('growth-user') || options.wants('growth-user-p50')) {
    const works = byList.map((filled, i) => [plan.lists[i]!, listOfUser(large, filled)] as const)
    figures.push(...(await bySize('growth-user', engine, large, works, { ...options, connections: 1 })))
  }
  return figures
}

/** Measures the same request at several sizes in turns, and compares the largest with the smallest. */
async function bySize(
  id: string,
  engine: Engine,
  system: System,
  works: (readonly [size: number, next: Next])[],
  { rounds, seconds, connections = CONNECTIONS }: Options & { connections?: number },
): Promise<Figure[]> {
  const named = Object.fromEntries(works.map(([size, next]) => [size, { system, load: { connections, seconds, next } }]))
  await warm(named)
  const seen: Record<string, Cost>[] = []
  for (let round = 0; round < rounds; round++) seen.push(await measure(named))
  const sizes = works.map(([size]) => size)
  const [least, most] = [String(sizes[0]), String(sizes.at(-1))]
  const figure = compared(
    id,
    engine,
    seen.map((costs) => ({ ours: costs[most]!, base: costs[least]! })),
  )
  const points = sizes.map((size): [number, number] => [size, median(seen.map((costs) => costs[size]!.cpuMs))])
  const to = Number(most).toLocaleString('en')
  const p50 = { id: `${id}-p50`, engine, value: median(seen.map((costs) => costs[most]!.p50)), to }
  return [{ ...figure, to, points }, ...(id === 'growth-user' ? [p50] : [])]
}

async function besideSmall(engine: Engine, stores: Stores, options: Options): Promise<Figure[]> {
  const { large, other, small, only, words, messages } = stores
  const figures: Figure[] = []
  for (const [what, work] of Object.entries(ANYWHERE)) {
    const id = `growth-store-${what}`
    if (!options.wants(id)) continue
    const load = (next: Next) => ({ connections: CONNECTIONS, seconds: options.seconds, next })
    const works = {
      ours: { system: large, load: load(work(large, other)) },
      base: { system: small, load: load(work(small, only)) },
    }
    await warm(works)
    const rounds: { ours: Cost; base: Cost }[] = []
    for (let round = 0; round < options.rounds; round++) rounds.push(await measure(works))
    const figure = compared(id, engine, rounds)
    const points: [number, number][] = [
      [messages.small, figure.base!],
      [messages.large, figure.value],
    ]
    figures.push({ ...figure, to: words, points })
  }
  return figures
}
