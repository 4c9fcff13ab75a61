import { get } from 'node:http'
import type { Figure } from '../figures.ts'
import type { Filled } from '../fill.ts'
import { Connection } from '../load.ts'
import { residentKb } from '../processes.ts'
import type { Engine, System } from '../stage.ts'
import { quantile } from '../turns.ts'

const LOOK_EVERY_MS = 50
const PAUSE_MS = 2

/** Measures the list of all sessions of an agent in one response: its memory, and the effect on other requests. */
export async function wholeList(engine: Engine, system: System, listed: Filled, other: Filled): Promise<Figure[]> {
  const prober = await Connection.open(system.program.port)
  const text = system.text('GET', `/agents/${other.agentId}/sessions/${other.sessionIds[0]}/messages?limit=1`)
  for (let i = 0; i < 200; i++) await prober.ask(text)
  await read(system, `/agents/${listed.agentId}/sessions?limit=100`)
  const { pid } = system.program
  const before = residentKb(pid)
  let most = before
  const watch = setInterval(() => {
    most = Math.max(most, residentKb(pid))
  }, LOOK_EVERY_MS)
  let isOver = false
  const times: number[] = []
  const others = (async () => {
    while (!isOver) {
      times.push((await prober.ask(text)).ms)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  })()
  const sessions = await read(system, `/agents/${listed.agentId}/sessions`)
  isOver = true
  await others
  clearInterval(watch)
  prober.close()
  const to = sessions.toLocaleString('en')
  return [
    { id: 'whole-list', engine, value: (most - before) / 1_024, to },
    { id: 'whole-list-others', engine, value: quantile(times, 0.99), to },
  ]
}

/** Resolves to the number of sessions in the response, without storing the response. */
function read({ program, text }: System, path: string): Promise<number> {
  const key = /x-api-key: (\S+)/.exec(text('GET', path))![1]!
  return new Promise((resolve, reject) => {
    const request = get(program.url + path, { headers: { 'x-api-key': key } }, (response) => {
      let sessions = 0
      let rest = ''
      response.setEncoding('latin1')
      response.on('data', (part: string) => {
        const whole = rest + part
        sessions += whole.split('"userSessionId"').length - 1
        rest = whole.slice(-14)
      })
      response.on('error', reject)
      response.on('end', () =>
        response.statusCode === 200 ? resolve(sessions) : reject(new Error(`${path}: ${response.statusCode}`)),
      )
    })
    request.on('error', reject)
  })
}
