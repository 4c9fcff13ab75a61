import { compared, type Figure, type Options, type Scenario } from '../figures.ts'
import { type Answer, drive } from '../load.ts'
import { type Engine, Stage, type System } from '../stage.ts'
import { type Cost, inTurns, type Loaded, measure, median, quantile, warm } from '../turns.ts'

const CONNECTIONS = 16
const WARM_SENDS = 400
const MESSAGE = 'How much oil do the lamps of the harbour take in a night, and who writes it down?'
/** Sessions prepared for sends, as a multiple of what the warm-up rate needs. */
const SPARE = 1.6

interface Round {
  ours: Cost
  base: Cost
}

/** A warmed-up system. */
interface Warm {
  system: System
  sendsPerSecond: number
}

/** Prepares everything that the measured request needs, and returns its load. */
type Prepare = (warm: Warm, seconds: number) => Promise<Loaded>

const sessionsOf = (agent: string) => `/agents/${agent}/sessions`
const idIn = (body: Buffer): string => /"session":\{"id":"([^"]+)"/.exec(body.toString('latin1', 0, 200))![1]!

export async function newSessions(system: System, agent: string, count: number): Promise<string[]> {
  const text = system.text('POST', sessionsOf(agent), {})
  const ids: string[] = []
  let left = count
  const next = () => (left-- > 0 ? text : undefined)
  const onAnswer = ({ body }: Answer) => void ids.push(idIn(body))
  await drive({ port: system.program.port, connections: CONNECTIONS, seconds: 600, next, onAnswer })
  return ids
}

export const sendText = (system: System, agent: string, session: string, body: object = { message: MESSAGE }): string =>
  system.text('POST', `${sessionsOf(agent)}/${session}/messages`, body)

/** Sends one message in each session until none is left. */
const oneEach = (system: System, agent: string, ids: string[]) => () => {
  const id = ids.pop()
  return id === undefined ? undefined : sendText(system, agent, id)
}

async function warmUp(system: System): Promise<Warm> {
  const agent = await system.newAgent()
  const next = oneEach(system, agent, await newSessions(system, agent, WARM_SENDS))
  const { seconds } = await drive({ port: system.program.port, connections: CONNECTIONS, seconds: 60, next })
  return { system, sendsPerSecond: WARM_SENDS / seconds }
}

const steps: Record<string, Prepare> = {
  async create({ system }, seconds) {
    const text = system.text('POST', sessionsOf(await system.newAgent()), {})
    return { connections: CONNECTIONS, seconds, next: () => text }
  },
  async 'send-new'({ system, sendsPerSecond }, seconds) {
    const agent = await system.newAgent()
    const ids = await newSessions(system, agent, Math.ceil(sendsPerSecond * seconds * SPARE))
    return { connections: CONNECTIONS, seconds, next: oneEach(system, agent, ids) }
  },
  async 'send-one'({ system }, seconds) {
    const agent = await system.newAgent()
    const texts = (await newSessions(system, agent, CONNECTIONS)).map((id) => sendText(system, agent, id))
    return { connections: CONNECTIONS, seconds, next: (connection) => texts[connection] }
  },
  async history({ system }, seconds) {
    const agent = await system.newAgent()
    const [id] = await newSessions(system, agent, 1)
    const path = `${sessionsOf(agent)}/${id}/messages`
    for (let i = 0; i < 50; i++) await system.ask('POST', path, { message: MESSAGE })
    const text = system.text('GET', `${path}?limit=50`)
    return { connections: CONNECTIONS, seconds, next: () => text }
  },
  async list({ system }, seconds) {
    const agent = await system.newAgent()
    await newSessions(system, agent, 1_000)
    const text = system.text('GET', sessionsOf(agent))
    return { connections: 4, seconds, next: () => text }
  },
}

/** Measures requests without documents. Each round uses new processes. */
export const requests: Scenario = {
  name: 'requests',
  figures: [...Object.keys(steps), 'html', 'first-token', 'first-token-p99'],
  async run(options) {
    const figures: Figure[] = []
    for (const engine of options.engines) {
      const rounds: Record<string, Round[]> = {}
      const firsts: Figure[][] = []
      for (let round = 1; round <= options.rounds; round++) {
        options.tell(`requests on ${engine}, round ${round}`)
        const stage = new Stage()
        try {
          const [ours, floor] = [await stage.service(await stage.place(engine)), await stage.floor(await stage.place(engine))]
          for (const [id, cost] of await runRound(options, ours, floor)) rounds[id] = [...(rounds[id] ?? []), cost]
          if (options.wants('first-token') || options.wants('first-token-p99'))
            firsts.push(await firstTokens(engine, ours, floor, await modelOf(stage), options.seconds))
        } finally {
          await stage.end()
        }
      }
      for (const [id, costs] of Object.entries(rounds)) figures.push(compared(id, engine, costs))
      for (const at of firsts.length === 0 ? [] : [0, 1]) figures.push(middleOf(firsts.map((pair) => pair[at]!)))
    }
    return figures
  },
}

async function runRound({ wants, seconds }: Options, ours: System, floor: System): Promise<[string, Round][]> {
  const costs: [string, Round][] = []
  const warm = { ours: await warmUp(ours), base: await warmUp(floor) }
  for (const [id, prepare] of Object.entries(steps)) {
    if (!wants(id)) continue
    const [own, base] = [await prepare(warm.ours, seconds), await prepare(warm.base, seconds)]
    costs.push([id, await measure({ ours: { system: ours, load: own }, base: { system: floor, load: base } })])
  }
  if (wants('html')) costs.push(['html', await htmlOnTop(ours, warm.base, seconds)])
  return costs
}

/** Measures a reply as Markdown and as HTML in growing sessions. The difference is compared with a plain send of the floor. */
async function htmlOnTop(ours: System, floor: Warm, seconds: number): Promise<Round> {
  const agent = await ours.newAgent({ model: 'openai/long' })
  const sends = async (format: string): Promise<Loaded> => {
    const texts = (await newSessions(ours, agent, CONNECTIONS)).map((id) =>
      sendText(ours, agent, id, { message: MESSAGE, format }),
    )
    return { connections: CONNECTIONS, seconds, next: (connection) => texts[connection] }
  }
  const works = {
    html: { system: ours, load: await sends('html') },
    plain: { system: ours, load: await sends('markdown') },
    base: { system: floor.system, load: await steps['send-one']!(floor, seconds) },
  }
  // Rendering has not been warmed up yet.
  await warm(works)
  const { html, plain, base } = await measure(works)
  return { ours: { ...html, cpuMs: html.cpuMs - plain.cpuMs }, base }
}

const modelOf = async (stage: Stage): Promise<Pick<System, 'program' | 'roots'>> => ({ program: await stage.model(), roots: [] })

/** Measures the time to the first words of streams on four connections, relative to the model alone. */
async function firstTokens(
  engine: Engine,
  ours: System,
  floor: System,
  model: Pick<System, 'program' | 'roots'>,
  seconds: number,
): Promise<Figure[]> {
  const streams = async (system: System): Promise<Loaded> => {
    const agent = await system.newAgent()
    const texts = (await newSessions(system, agent, 64)).map((id) =>
      system.text('POST', `${sessionsOf(agent)}/${id}/messages`, { message: MESSAGE }, { accept: 'text/event-stream' }),
    )
    return { connections: 4, seconds, next: inTurns(texts), mark: 'message.delta' }
  }
  const messages = [{ role: 'user', content: MESSAGE }]
  const asked = ours.text('POST', '/chat/completions', { model: 'short', stream: true, messages })
  const { own, base, alone } = await measure({
    own: { system: ours, load: await streams(ours) },
    base: { system: floor, load: await streams(floor) },
    alone: { system: model, load: { connections: 4, seconds, next: () => asked, mark: 'data: ' } },
  })
  return ([0.5, 0.99] as const).map((share) => {
    const over = ({ marks }: Cost) => quantile(marks, share) - quantile(alone.marks, share)
    return { id: share === 0.5 ? 'first-token' : 'first-token-p99', engine, value: over(own), base: over(base) }
  })
}

const middleOf = (rounds: Figure[]): Figure => ({
  ...rounds[0]!,
  value: median(rounds.map(({ value }) => value)),
  base: median(rounds.map(({ base }) => base!)),
})
