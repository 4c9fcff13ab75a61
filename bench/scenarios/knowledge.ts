import { compared, type Figure, type Options, type Scenario } from '../figures.ts'
import { Connection } from '../load.ts'
import { passageOf, questionOf } from '../passages.ts'
import { type Engine, Stage, type System } from '../stage.ts'
import { type Cost, inBatches, inTurns, type Loaded, measure, median, quantile, warm } from '../turns.ts'
import { newSessions, sendText } from './requests.ts'

const PASSAGES = { quick: 500, usual: 5_000, full: 5_000 }
const CONNECTIONS = 16
/** The questions are spread over this many sessions, so that each session stays short. */
const SESSIONS = 1_000
const PROBE_EVERY_MS = 5

/** The settings of the agent, measured one after the other. */
const KINDS = {
  lexical: { model: 'openai/short', retrieval: { mode: 'lexical' } },
  hybrid: { model: 'openai/short', retrieval: { mode: 'hybrid' } },
  extractive: { model: 'extractive', retrieval: { mode: 'lexical' } },
}

/** Measures messages to an agent with documents, relative to a send of the floor, which has none. */
export const knowledge: Scenario = {
  name: 'knowledge',
  figures: [...Object.keys(KINDS), 'loop-hold'],
  async run(options) {
    const figures: Figure[] = []
    for (const engine of options.engines) {
      const stage = new Stage()
      try {
        figures.push(...(await runOn(engine, stage, options)))
      } finally {
        await stage.end()
      }
    }
    return figures
  },
}

async function runOn(engine: Engine, stage: Stage, { size, rounds, seconds, wants, tell }: Options): Promise<Figure[]> {
  const [ours, floor] = [await stage.service(await stage.place(engine)), await stage.floor(await stage.place(engine))]
  const agent = await ours.newAgent({ embeddingModel: 'openai/embed' })
  const count = PASSAGES[size]
  tell(`knowledge on ${engine}: ${count.toLocaleString('en')} documents`)
  await addDocuments(ours, agent, count)
  const base = await sendsTo(floor, await floor.newAgent(), count, seconds)
  const seen: Record<string, { ours: Cost; base: Cost }[]> = {}
  const holds: { p99: number; most: number }[] = []
  for (let round = 1; round <= rounds; round++) {
    tell(`knowledge on ${engine}, round ${round}`)
    for (const [id, settings] of Object.entries(KINDS)) {
      if (!wants(id) && !(id === 'hybrid' && wants('loop-hold'))) continue
      await ours.ask('PATCH', `/agents/${agent}`, settings)
      if (id === 'hybrid') await until(() => isByMeaning(ours, agent))
      const load = await sendsTo(ours, agent, count, seconds)
      if (round === 1) await warm({ ours: { system: ours, load } })
      const cost = await measure({ ours: { system: ours, load }, base: { system: floor, load: base } })
      seen[id] = [...(seen[id] ?? []), cost]
      if (id === 'hybrid') holds.push(await healthMeanwhile(ours, load.next, seconds))
    }
  }
  const figures = Object.entries(seen).map(([id, costs]) => compared(id, engine, costs))
  const [value, most] = [median(holds.map(({ p99 }) => p99)), Math.max(...holds.map(({ most }) => most))]
  if (holds.length > 0) figures.push({ id: 'loop-hold', engine, value, more: { most } })
  return figures.filter(({ id }) => wants(id))
}

export async function addDocuments(system: System, agent: string, count: number): Promise<void> {
  await inBatches(count, CONNECTIONS, async (i) => {
    const { title, text } = passageOf(i)
    await system.ask('POST', `/agents/${agent}/documents`, { title, text })
  })
  const left = async (status: string) =>
    (await system.ask('GET', `/agents/${agent}/documents?limit=1&status=${status}`)).pagination.total
  await until(async () => (await left('queued')) + (await left('processing')) === 0)
}

async function isByMeaning(system: System, agent: string): Promise<boolean> {
  const { trace } = await system.ask('POST', `/agents/${agent}/search`, { query: questionOf(1), include: ['trace'] })
  return trace.retrieval.mode === 'hybrid'
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 200))
}

/** Returns a load of questions about passages from the whole base. */
async function sendsTo(system: System, agent: string, count: number, seconds: number): Promise<Loaded> {
  const sessions = inTurns(await newSessions(system, agent, SESSIONS))
  let at = 0
  const next = () => sendText(system, agent, sessions(), { message: questionOf((at++ * 7_919) % count) })
  return { connections: CONNECTIONS, seconds, next }
}

/** Measures how long a request that needs only the event loop waits while messages are answered. */
async function healthMeanwhile(system: System, next: Loaded['next'], seconds: number): Promise<{ p99: number; most: number }> {
  const { port } = system.program
  const [sender, prober] = [await Connection.open(port), await Connection.open(port)]
  const health = system.text('GET', '/../healthz').replace('/v1/../', '/')
  const until = performance.now() + seconds * 1_000
  const times: number[] = []
  const send = async () => {
    while (performance.now() < until) await sender.ask(next(0)!)
  }
  const probe = async () => {
    while (performance.now() < until) {
      times.push((await prober.ask(health)).ms)
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
    }
  }
  await Promise.all([send(), probe()])
  for (const connection of [sender, prober]) connection.close()
  return { p99: quantile(times, 0.99), most: Math.max(...times) }
}
