// Many streams at once over a model that trickles, what each costs, and what others feel of it; then how much later than the model's own
// the first word comes.
//   node bench/streams.ts [streams, default 2000] [seconds, default 60]
// The model and the readers live in this process, the service in one of its own. Each stream takes two sockets here and two there.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../src/chat/key-format.ts'

const [streams = 2000, seconds = 60] = process.argv.slice(2).map(Number)
const FIRST_TOKEN_ROUNDS = 400
const CONNECTIONS = 4

const model = createServer(speak).listen(0, '127.0.0.1')
await once(model, 'listening')
const modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
let trickling = true
const folder = mkdtempSync(join(tmpdir(), 'repartee-streams-'))
const key = makeKey()
const { child, baseUrl } = await start()
const { agent } = await ask('POST', '/agents', { name: 'bench', model: 'openai/trickle' })

const sessions = await inBatches(streams, 50, async () => (await ask('POST', `/agents/${agent.id}/sessions`, {})).session.id)
const quiet = sessions[0]
for (let i = 0; i < 50; i++) await ask('GET', `/agents/${agent.id}/sessions/${quiet}`)
const before = pssKb()
const opened = await inBatches(streams, 100, (i) => openStream(sessions[i]!))
await new Promise((resolve) => setTimeout(resolve, 3_000))
const during = pssKb()
const others: number[] = []
const until = performance.now() + seconds * 1000
while (performance.now() < until) {
  const begun = performance.now()
  await ask('GET', `/agents/${agent.id}/sessions/${quiet}`)
  others.push(performance.now() - begun)
  await new Promise((resolve) => setTimeout(resolve, 10))
}
const atEnd = pssKb()
trickling = false
const ended = await Promise.all(opened.map(({ last }) => last))
others.sort((a, b) => a - b)
report({
  what: `${streams} streams at once, each a word a second for ${seconds} s`,
  completed: ended.filter((event) => event === 'turn.completed').length,
  kbPerStream: round((during - before) / streams),
  kbPerStreamAtEnd: round((atEnd - before) / streams),
  othersP50Ms: round(others[others.length >> 1]!),
  othersP99Ms: round(others[Math.floor(others.length * 0.99)]!),
  requests: others.length,
})

const own: number[] = []
const through: number[] = []
for (let done = 0; done < FIRST_TOKEN_ROUNDS; done += CONNECTIONS) {
  own.push(
    ...(await Promise.all(
      Array.from({ length: CONNECTIONS }, () => firstWord(`${modelUrl}/chat/completions`, { stream: true })),
    )),
  )
  const paths = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => (await ask('POST', `/agents/${agent.id}/sessions`, {})).session.id),
  )
  through.push(
    ...(await Promise.all(
      paths.map((id) =>
        firstWord(`${baseUrl}/agents/${agent.id}/sessions/${id}/messages`, { message: 'Hello' }, 'message.delta'),
      ),
    )),
  )
}
for (const times of [own, through]) times.sort((a, b) => a - b)
const at = (times: number[], share: number) => times[Math.floor(times.length * share)]!
report({
  what: `first word over the model's own, ${CONNECTIONS} connections`,
  p50Ms: round(at(through, 0.5) - at(own, 0.5)),
  p99Ms: round(at(through, 0.99) - at(own, 0.99)),
})
child.kill()
model.closeAllConnections()
model.close()
rmSync(folder, { recursive: true })

/** Says a word a second as long as it is to trickle, else all at once. */
function speak(call: IncomingMessage, response: ServerResponse): void {
  call.resume()
  call.on('end', () => {
    const piece = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(piece({ content: 'word ' }))
    const end = () => response.end(`${piece({}, 'stop')}data: [DONE]\n\n`)
    if (!trickling) return end()
    const timer = setInterval(() => {
      if (trickling) response.write(piece({ content: 'word ' }))
      else {
        clearInterval(timer)
        end()
      }
    }, 1_000)
    response.on('close', () => clearInterval(timer))
  })
}

async function openStream(session: string): Promise<{ last: Promise<string> }> {
  const body = JSON.stringify({ message: 'Hello' })
  const sent = request(`${baseUrl}/agents/${agent.id}/sessions/${session}/messages`, {
    method: 'POST',
    agent: false,
    headers: { ...headersOf(body), accept: 'text/event-stream' },
  })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let last = `status ${response.statusCode}`
  response.on('data', (chunk: Buffer) => {
    last = /event: (\S+)/.exec(chunk.toString('latin1').slice(chunk.lastIndexOf('event: ')))?.[1] ?? last
  })
  return { last: once(response, 'close').then(() => last) }
}

/** Milliseconds until the first word. */
async function firstWord(url: string, data: object, event = 'data: '): Promise<number> {
  const body = JSON.stringify(data)
  const begun = performance.now()
  const sent = request(url, { method: 'POST', headers: { ...headersOf(body), accept: 'text/event-stream' } })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return new Promise((resolve) => {
    let text = ''
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (text.includes(event)) resolve(performance.now() - begun)
    })
  })
}

function headersOf(body: string) {
  return { 'x-api-key': key, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
}

// biome-ignore lint/suspicious/noExplicitAny: answers of a service that is tested elsewhere
async function ask(method: string, path: string, data?: object): Promise<any> {
  const body = data === undefined ? '' : JSON.stringify(data)
  const sent = request(baseUrl + path, { method, headers: data === undefined ? { 'x-api-key': key } : headersOf(body) })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  if (response.statusCode! > 299) throw new Error(`${method} ${path}: ${response.statusCode} ${text}`)
  return JSON.parse(text)
}

async function inBatches<T>(count: number, size: number, make: (i: number) => Promise<T>): Promise<T[]> {
  const all: T[] = []
  for (let i = 0; i < count; i += size) {
    all.push(...(await Promise.all(Array.from({ length: Math.min(size, count - i) }, (_, n) => make(i + n)))))
  }
  return all
}

/** Memory of the service alone. */
function pssKb(): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, 'latin1'))![1])
}

async function start(): Promise<{ child: ChildProcess; baseUrl: string }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.js', import.meta.url))], {
    env: {
      ...process.env,
      REPARTEE_PORT: '0',
      REPARTEE_DATA: folder,
      REPARTEE_ADMIN_KEY: key,
      REPARTEE_SAMPLE: 'off',
      REPARTEE_RATE_LIMIT: 'off',
      REPARTEE_LOG_LEVEL: 'silent',
      REPARTEE_TURN_TIMEOUT_MS: String((seconds + 60) * 1000),
      OPENAI_BASE_URL: modelUrl,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout!) {
    printed += chunk
    const url = /Base URL: (\S+)\n/.exec(printed)?.[1]
    if (url !== undefined) return { child, baseUrl: url }
  }
  throw new Error(`the service did not start: ${printed}`)
}

function round(n: number): number {
  return Math.round(n * 10) / 10
}

function report(figures: object): void {
  console.log(JSON.stringify(figures))
}
