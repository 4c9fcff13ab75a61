// Measures how ingestion affects others: the time of sends to one agent, alternately quiet and while another agent ingests documents.
//   node bench/ingest.ts [documents, default 10000] [rounds, default 4]
// Half of the documents are Markdown, half are HTML, which is read in a separate process.
// A separate process sends the documents, so that its garbage collection does not affect the measured times.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeKey } from '../src/access/key-format.ts'
import { Client } from '../test/support/client.ts'
import { type Program, startProgram } from './processes.ts'
import { MAIN } from './stage.ts'

const QUIET_SENDS = 400
const AT_ONCE = 4
/** Pause between two sends. */
const PAUSE_MS = 10

const words = 'lamp river stone window garden market paper cloud engine bridge summer copper silver ticket planet harbour'.split(
  ' ',
)
const random = (below: number) => Math.floor(Math.random() * below)
const sentence = () => `${Array.from({ length: 12 }, () => words[random(words.length)]! + random(300)).join(' ')}.`
const text = () => Array.from({ length: 12 }, sentence).join(' ')

let client: Client
const sender = process.env.INGEST_SENDER
if (sender === undefined) await measure()
else {
  const { baseUrl, key, agent } = JSON.parse(sender)
  client = new Client({ baseUrl }, key)
  process.on('message', async (count: number) => {
    await takeIn(agent, count)
    process.send!('taken')
  })
}

async function measure(): Promise<void> {
  const [documents = 10_000, rounds = 4] = process.argv.slice(2).map(Number)
  const folder = mkdtempSync(join(tmpdir(), 'repartee-ingest-'))
  const key = makeKey()
  const service = await start(folder, key)
  const baseUrl = service.url
  client = new Client({ baseUrl }, key)
  const chatting = (await ask('POST', '/agents', { name: 'chat', model: 'extractive' })).agent.id
  const agent = (await ask('POST', '/agents', { name: 'ingest', model: 'extractive' })).agent.id
  const sending = fork(import.meta.filename, { env: { ...process.env, INGEST_SENDER: JSON.stringify({ baseUrl, key, agent }) } })
  for (let i = 0; i < 200; i++) await ask('POST', `/agents/${chatting}/documents`, { markdown: `# Note ${i}\n\n${text()}` })
  await ready(chatting)

  const quiet: number[] = []
  const busy: number[] = []
  let ingestMs = 0
  let peakKb = 0
  for (let i = 0; i < QUIET_SENDS; i++) await send(chatting)
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < QUIET_SENDS; i++) quiet.push(await send(chatting))
    const begun = performance.now()
    let isOver = false
    const taken = once(sending, 'message').finally(() => {
      isOver = true
    })
    sending.send(Math.ceil(documents / rounds))
    while (!isOver) {
      busy.push(await send(chatting))
      peakKb = Math.max(peakKb, rssKb(service))
    }
    await taken
    ingestMs += performance.now() - begun
    await pause(3_000)
  }
  const ms = (times: number[], share: number) =>
    Number(times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!.toFixed(2))
  console.log(
    JSON.stringify({
      what: `a send, quiet and while ${documents} documents are ingested`,
      quiet: { n: quiet.length, p50Ms: ms(quiet, 0.5), p99Ms: ms(quiet, 0.99) },
      busy: { n: busy.length, p50Ms: ms(busy, 0.5), p99Ms: ms(busy, 0.99) },
      p99Ratio: Number((ms(busy, 0.99) / ms(quiet, 0.99)).toFixed(2)),
      documentsPerSecond: Math.round((documents / ingestMs) * 1_000),
      peakMb: Math.round(peakKb / 1_024),
    }),
  )
  sending.kill()
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Returns the milliseconds of one message in a new session. */
async function send(agent: string): Promise<number> {
  const { session } = await ask('POST', `/agents/${agent}/sessions`, {})
  const begun = performance.now()
  await ask('POST', `/agents/${agent}/sessions/${session.id}/messages`, {
    message: `Where is the ${words[random(words.length)]}${random(300)}?`,
  })
  const took = performance.now() - begun
  await pause(PAUSE_MS)
  return took
}

async function takeIn(agent: string, count: number): Promise<void> {
  let next = 0
  const one = async () => {
    for (let i = next++; i < count; i = next++) {
      const content = i % 2 === 0 ? { markdown: text() } : { html: `<main><p>${text()}</p></main>` }
      await ask('POST', `/agents/${agent}/documents`, { title: `Document ${i}`, ...content })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  await ready(agent)
}

async function ready(agent: string): Promise<void> {
  for (;;) {
    const waiting = await Promise.all(
      ['queued', 'processing'].map(
        async (status) => (await ask('GET', `/agents/${agent}/documents?limit=1&status=${status}`)).pagination.total,
      ),
    )
    if (waiting.every((total) => total === 0)) return
    await pause(100)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the answers of a service under measure
async function ask(method: string, path: string, body?: object): Promise<any> {
  const answer = await client.request(method, path, { body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
}

/** Returns the memory of the service itself, without its reading process. */
function rssKb(service: Program): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1] ?? 0)
}

function start(folder: string, key: string): Promise<Program> {
  const env = { REPARTEE_PORT: '0', REPARTEE_DATA: folder, REPARTEE_ADMIN_KEY: key, REPARTEE_SAMPLE: 'off' }
  return startProgram(MAIN, { ...env, REPARTEE_RATE_LIMIT: 'off', REPARTEE_LOG_LEVEL: 'error' }, null)
}
