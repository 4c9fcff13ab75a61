// Repeats everything that callers do, with model failures and disconnecting callers. Checks that memory stays flat and nothing is lost.
//   node bench/soak.ts [minutes, default 30]
// Draws docs/images/soak.svg if it runs for half an hour or longer.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { curve } from '../scripts/plot.ts'
import type { Answer } from '../test/support/client.ts'
import { type Behaviour, cuts, refuses, says, streams } from '../test/support/model-server.ts'
import { startService } from '../test/support/service.ts'

const [minutes = 30] = process.argv.slice(2).map(Number)
const WORKERS = 6
/** Pause between two calls of a worker, for a busy but not saturated machine. */
const PAUSE_MS = 40
const SAMPLE_EVERY_MS = 10_000
const service = await startService({ REPARTEE_MODEL_RETRIES: '1', REPARTEE_LOG_LEVEL: 'warn' })
const { client, model } = service
const pick = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!
const words = readFileSync(new URL('../docs/turns.md', import.meta.url), 'utf8').split(/\s+/)
const sentence = (n: number) => Array.from({ length: n }, () => pick(words)).join(' ')

const behaviours: [share: number, name: string, behaviour: Behaviour][] = [
  [
    90,
    'good',
    (call, response) => pick([says(sentence(60)), streams([sentence(20), sentence(20), sentence(20)])])(call, response),
  ],
  [4, 'refused', refuses(500)],
  [3, 'cut', cuts],
  [3, 'too many', refuses(429)],
]
const faults: Record<string, number> = {}
model.behaviour = (call, response) => {
  model.calls.length = 0 // recorded calls would grow without limit
  let at = Math.random() * 100
  const [, name, behaviour] =
    behaviours.find(([share]) => {
      at -= share
      return at < 0
    }) ?? behaviours[0]!
  if (name !== 'good') faults[`model ${name}`] = (faults[`model ${name}`] ?? 0) + 1
  return behaviour(call, response)
}

const statuses: Record<string, number> = {}
const problems: string[] = []
let requests = 0
async function ask(what: string, expected: number[], call: () => Promise<Answer>): Promise<Answer | undefined> {
  requests++
  try {
    const answer = await call()
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    if (!expected.includes(answer.status)) problems.push(`${what}: ${answer.status} ${answer.text.slice(0, 200)}`)
    return answer
  } catch (error) {
    if (what !== 'left') problems.push(`${what}: ${(error as Error).message}`)
    return undefined
  }
}

/** Simulates a user: a conversation, documents, failures, deletion. Checks that every acknowledged message was stored. */
async function live(agent: string, isExtractive: boolean): Promise<void> {
  const made = await ask('create', [201], () => client.post(`/agents/${agent}/sessions`, {}))
  const id = made?.body.session.id as string
  const user = made?.body.session.userSessionId as string
  const path = `/agents/${agent}/sessions/${id}`
  let acknowledged = 0
  const good = isExtractive ? [200] : [200, 502, 504]
  for (let i = 0; i < 12; i++) {
    const message = sentence(8)
    const kind = Math.random()
    await pause(PAUSE_MS)
    if (kind < 0.5) {
      const answer = await ask('send', good, () =>
        client.post(`${path}/messages`, { message, format: pick(['html', 'markdown']), include: ['sources', 'trace'] }),
      )
      if (answer?.status === 200) acknowledged += 2
    } else if (kind < 0.65) {
      const headers = { accept: 'text/event-stream' }
      const answer = await ask('stream', [200], () => client.request('POST', `${path}/messages`, { body: { message }, headers }))
      if (answer?.text.includes('event: turn.completed')) acknowledged += 2
    } else if (kind < 0.75) {
      const signal = AbortSignal.timeout(5 + Math.floor(Math.random() * 30))
      faults['caller left'] = (faults['caller left'] ?? 0) + 1
      const answer = await ask('left', [...good, 409], () =>
        client.request('POST', `${path}/messages`, { body: { message }, signal }),
      )
      if (answer?.status === 200) acknowledged += 2
    } else if (kind < 0.8) {
      const last = (await ask('history', [200], () => client.get(`${path}/messages?limit=100`)))?.body.messages.at(-1)
      if (last?.role === 'AI')
        await ask('regenerate', [...good, 400, 409], () => client.post(`${path}/messages/${last.id}/regenerate`, {}))
    } else if (kind < 0.85) {
      faults['bad request'] = (faults['bad request'] ?? 0) + 1
      await ask('bad', [400], () =>
        client.request('POST', `${path}/messages`, { bytes: pick(['{', '[]', '{"message":""}', '{"massage":"x"}', '\u{feff}']) }),
      )
    } else if (kind < 0.9) await ask('search', [200], () => client.post(`/agents/${agent}/search`, { query: message }))
    else if (kind < 0.95) await ask('list', [200], () => client.get(`/agents/${agent}/sessions?limit=20`))
    else {
      const added = await ask('document', [202], () =>
        client.post(`/agents/${agent}/documents`, { title: sentence(3), text: sentence(400) }),
      )
      await pause(200)
      if (added) await ask('remove', [200], () => client.delete(`/agents/${agent}/documents/${added.body.document.id}`))
    }
  }
  const whole = await ask('read', [200], () => client.get(path))
  const messages = (whole?.body.messages ?? []) as { role: string }[]
  if (messages.length < acknowledged) problems.push(`${messages.length} messages where ${acknowledged} were acknowledged`)
  await (Math.random() < 0.5
    ? ask('delete', [200], () => client.delete(path))
    : ask('erase', [200], () => client.delete(`/agents/${agent}/users/${user}`)))
}

const agents = [await service.newAgent({ followUps: { enabled: true } }), await service.newAgent({ model: 'extractive' })]
for (const agent of agents)
  for (const name of readdirSync(new URL('../docs/', import.meta.url)).filter((name) => name.endsWith('.md')))
    await client.post(`/agents/${agent}/documents`, {
      title: name,
      markdown: readFileSync(new URL(`../docs/${name}`, import.meta.url), 'utf8'),
    })

const samples: { minute: number; rssMb: number; files: number }[] = []
const begin = performance.now()
const sampler = setInterval(
  () => samples.push({ minute: (performance.now() - begin) / 60_000, rssMb: rssMb(), files: openFiles() }),
  SAMPLE_EVERY_MS,
)
const end = begin + minutes * 60_000
const lives = await Promise.all(
  Array.from({ length: WORKERS }, async (_, i) => {
    let count = 0
    for (; performance.now() < end; count++) await live(agents[i % 2]!, i % 2 === 1)
    return count
  }),
)
clearInterval(sampler)

const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / Math.max(1, list.length)
const within = (from: number, to: number) => samples.filter(({ minute }) => minute >= minutes * from && minute < minutes * to)
const third = (from: number, to: number) => Math.round(mean(within(from, to).map(({ rssMb }) => rssMb)))
process.stdout.write(
  `${JSON.stringify({
    minutes,
    conversations: lives.reduce((a, b) => a + b, 0),
    requests,
    statuses,
    faults,
    problems: problems.slice(0, 10),
    problemCount: problems.length,
    rssMb: {
      atOneMinute: Math.round(samples.find(({ minute }) => minute >= 1)?.rssMb ?? 0),
      secondThird: third(1 / 3, 2 / 3),
      lastThird: third(2 / 3, 1),
      most: Math.max(...samples.map(({ rssMb }) => rssMb)),
    },
    openFiles: { first: samples[0]?.files, last: samples.at(-1)?.files },
    stalls: service.printed().match(/stood still for \d+ ms/g) ?? [],
  })}\n`,
)
if (minutes >= 30) {
  const points = samples.map(({ minute, rssMb }) => [minute, rssMb] as const)
  const title = `Memory of the service (MB) through ${minutes} minutes of everything at once`
  writeFileSync(new URL('../docs/images/soak.svg', import.meta.url), curve(title, 'minutes', points))
}
await service.stop()

function rssMb(): number {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid()}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1_024)
}

function openFiles(): number {
  return readdirSync(`/proc/${service.pid()}/fd`).length
}
