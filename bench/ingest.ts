// What others feel while documents are ingested: the time of a send to one agent, in turns quiet and while another agent takes documents in.
//   node bench/ingest.ts [documents, default 10000] [rounds, default 4]
// Half of the documents are Markdown, the other half HTML, which is read in a process of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../src/chat/key-format.ts'

const [documents = 10_000, rounds = 4] = process.argv.slice(2).map(Number)
const QUIET_SENDS = 400
const AT_ONCE = 4
/** Between two sends. */
const PAUSE_MS = 10

const words = 'lamp river stone window garden market paper cloud engine bridge summer copper silver ticket planet harbour'.split(
  ' ',
)
const random = (below: number) => Math.floor(Math.random() * below)
const sentence = () => `${Array.from({ length: 12 }, () => words[random(words.length)]! + random(300)).join(' ')}.`
const text = () => Array.from({ length: 12 }, sentence).join(' ')

const folder = mkdtempSync(join(tmpdir(), 'repartee-ingest-'))
const key = makeKey()
const { child, baseUrl } = await start()
const chatting = (await ask('POST', '/agents', { name: 'chat', model: 'extractive' })).agent.id
const taking = (await ask('POST', '/agents', { name: 'ingest', model: 'extractive' })).agent.id
for (let i = 0; i < 200; i++) await ask('POST', `/agents/${chatting}/documents`, { markdown: `# Note ${i}\n\n${text()}` })
await ready(chatting)

const quiet: number[] = []
const busy: number[] = []
let ingestMs = 0
let peakKb = 0
await sends(QUIET_SENDS, [])
for (let round = 0; round < rounds; round++) {
  await sends(QUIET_SENDS, quiet)
  const begun = performance.now()
  let isOver = false
  const taken = takeIn(Math.ceil(documents / rounds), round).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await send(busy)
    peakKb = Math.max(peakKb, rssKb())
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
child.kill()
rmSync(folder, { recursive: true, force: true })

async function sends(count: number, times: number[]): Promise<void> {
  for (let i = 0; i < count; i++) await send(times)
}

async function send(times: number[]): Promise<void> {
  const { session } = await ask('POST', `/agents/${chatting}/sessions`, {})
  const begun = performance.now()
  await ask('POST', `/agents/${chatting}/sessions/${session.id}/messages`, {
    message: `Where is the ${words[random(words.length)]}${random(300)}?`,
  })
  times.push(performance.now() - begun)
  await pause(PAUSE_MS)
}

async function takeIn(count: number, round: number): Promise<void> {
  let next = 0
  const one = async () => {
    for (let i = next++; i < count; i = next++) {
      const title = `Document ${round}.${i}`
      await ask(
        'POST',
        `/agents/${taking}/documents`,
        i % 2 === 0 ? { title, markdown: text() } : { title, html: `<main><p>${text()}</p></main>` },
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
  await ready(taking)
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
  const response = await fetch(baseUrl + path, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer
}

/** Of the service itself, without the process that reads. */
function rssKb(): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0)
}

async function start(): Promise<{ child: ChildProcess; baseUrl: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.ts', import.meta.url))], {
    env: {
      PATH: process.env.PATH,
      REPARTEE_PORT: '0',
      REPARTEE_DATA: folder,
      REPARTEE_ADMIN_KEY: key,
      REPARTEE_SAMPLE: 'off',
      REPARTEE_LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    child.stdout!.on('data', (chunk: Buffer) => {
      printed += chunk
      const url = /http:\/\/\S+\/v1/.exec(printed)?.[0]
      if (url !== undefined) resolve(url)
    })
  })
  return { child, baseUrl }
}
