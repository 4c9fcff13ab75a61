import type { Figure, Scenario } from '../figures.ts'
import { Connection } from '../load.ts'
import { memoryKb } from '../processes.ts'
import { Stage, type System } from '../stage.ts'
import { inBatches, quantile } from '../turns.ts'
import { newSessions } from './requests.ts'

const STREAMS = { quick: 200, usual: 2_000, full: 2_000 }
const WATCHED_SECONDS = { quick: 3, usual: 10, full: 10 }
/** Slow enough that all streams are open before the first ends, even on a slow machine. */
const OPENED_A_SECOND = 150
const PAUSE_MS = 10

/** Measures many simultaneous streams (one word a second): the memory of each, and the effect on other requests. */
export const streams: Scenario = {
  name: 'streams',
  figures: ['streams', 'streams-kb', 'streams-others'],
  async run({ size, tell }) {
    const count = STREAMS[size]
    tell(`${count} streams at once`)
    const stage = new Stage()
    try {
      const seconds = Math.ceil(count / OPENED_A_SECOND) + WATCHED_SECONDS[size] + 5
      const turnMs = String((seconds + 60) * 1_000)
      const service = await stage.service(await stage.place('sqlite'), { REPARTEE_TURN_TIMEOUT_MS: turnMs })
      return await watch(service, count, seconds, WATCHED_SECONDS[size])
    } finally {
      await stage.end()
    }
  },
}

async function watch(service: System, count: number, seconds: number, watched: number): Promise<Figure[]> {
  const agent = await service.newAgent({ model: `openai/trickle-${seconds}` })
  const ids = await newSessions(service, agent, count + 1)
  const other = service.text('GET', `/agents/${agent}/sessions/${ids.pop()}`)
  const prober = await Connection.open(service.program.port)
  for (let i = 0; i < 50; i++) await prober.ask(other)
  const before = memoryKb(service.roots)
  let finished = 0
  const open = await inBatches(count, 100, async (i) => {
    const connection = await Connection.open(service.program.port)
    const path = `/agents/${agent}/sessions/${ids[i]}/messages`
    const text = service.text('POST', path, { message: 'Hello' }, { accept: 'text/event-stream' })
    const answer = connection.ask(text).then(({ body }) => {
      finished++
      return body.includes('event: turn.completed')
    })
    return { connection, answer }
  })
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const kbEach = (memoryKb(service.roots) - before) / count
  const times: number[] = []
  for (const until = performance.now() + watched * 1_000; performance.now() < until; ) {
    times.push((await prober.ask(other)).ms)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
  if (finished > 0) throw new Error(`${finished} streams ended before all were open long enough`)
  const completed = (await Promise.all(open.map(({ answer }) => answer))).filter(Boolean).length
  for (const { connection } of open) connection.close()
  prober.close()
  return [
    { id: 'streams', engine: 'sqlite', value: completed },
    { id: 'streams-kb', engine: 'sqlite', value: kbEach },
    { id: 'streams-others', engine: 'sqlite', value: quantile(times, 0.99), more: { p50: quantile(times, 0.5) } },
  ]
}
