// What must not grow: the memory of a whole list of 100,000 sessions, and the cost of a page at the end of 100,000 messages.
//   node bench/growth.ts
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentBook } from '../src/chat/agent-book.ts'
import { createAgent } from '../src/chat/agents.ts'
import type { Deps } from '../src/chat/deps.ts'
import { ensureAdminKey } from '../src/chat/keys.ts'
import { newId } from '../src/core/ids.ts'
import type { Session } from '../src/core/session.ts'
import { insertConversation } from '../src/store/messages.ts'
import { insertSession } from '../src/store/sessions.ts'
import { SqliteDatabase } from '../src/store/sqlite.ts'

const COUNT = 100_000
const folder = mkdtempSync(join(tmpdir(), 'repartee-growth-'))
const { agentId, sessionId, key, places } = await fill()
const { child, baseUrl } = await start()
const rssMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'latin1'))![1]) / 1024

const ticks = () => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'latin1').split(') ')[1]!.split(' ')
  return Number(fields[11]) + Number(fields[12])
}

await read(`/agents/${agentId}/sessions?limit=1`)
const idleMb = rssMb()
let peakMb = idleMb
const watch = setInterval(() => {
  peakMb = Math.max(peakMb, rssMb())
}, 20)
const others: number[] = []
let listing = true
const other = (async () => {
  while (listing) {
    const begun = performance.now()
    await read(`/agents/${agentId}/sessions/${sessionId}/messages?limit=1`)
    others.push(performance.now() - begun)
  }
})()
const list = await read(`/agents/${agentId}/sessions`)
listing = false
await other
clearInterval(watch)
others.sort((a, b) => a - b)
console.log(
  JSON.stringify({
    what: `list of ${COUNT} sessions`,
    listed: list.split('"userSessionId"').length - 1,
    megabytes: Math.round(list.length / 1e6),
    idleMb: Math.round(idleMb),
    peakOverIdleMb: Math.round(peakMb - idleMb),
    othersP99Ms: Math.round(others[Math.floor(others.length * 0.99)]! * 10) / 10,
  }),
)

const cost = { start: [] as number[], end: [] as number[] }
for (let round = 0; round < 6; round++) {
  for (const place of ['start', 'end'] as const) {
    const before = ticks()
    for (let i = 0; i < 1500; i++)
      await read(`/agents/${agentId}/sessions/${sessionId}/messages?limit=50&cursor=${places[place]}`)
    if (round > 0) cost[place].push((ticks() - before) / 150)
  }
}
const median = (list: number[]) => list.toSorted((a, b) => a - b)[list.length >> 1]!
console.log(
  JSON.stringify({
    what: `history page of 50, start and end of ${COUNT} messages`,
    cpuMsAtStart: median(cost.start),
    cpuMsAtEnd: median(cost.end),
    ratio: Math.round((median(cost.end) / median(cost.start)) * 100) / 100,
  }),
)
child.kill()
rmSync(folder, { recursive: true })

async function fill() {
  const db = new SqliteDatabase(folder)
  const now = Date.now()
  const deps = {
    db,
    agents: new AgentBook(db),
    models: { find: () => undefined },
    defaultModel: 'extractive',
    clock: Date.now,
    newId,
  } as unknown as Deps
  const agent = await createAgent(deps, { name: 'growth' })
  const newSession = (i: number): Session => {
    const at = now - i * 1000
    return {
      id: newId(),
      agentId: agent.id,
      name: `Session ${i}`,
      userId: newId(),
      totalMessages: 0,
      lastMessageAt: at,
      createdAt: at,
      updatedAt: at,
    }
  }
  for (let i = 0; i < COUNT; i += 5000)
    await Promise.all(Array.from({ length: 5000 }, (_, k) => insertSession(db, newSession(i + k))))
  const long = { ...newSession(0), totalMessages: COUNT }
  const text = 'Seventy letters of text, more or less, as a short message might have. '
  const messages = Array.from({ length: COUNT }, (_, i) => ({
    id: newId(),
    role: i % 2 ? ('AI' as const) : ('USER' as const),
    content: text + i,
    createdAt: now,
  }))
  await insertConversation(db, long, messages)
  const key = await ensureAdminKey(deps, undefined)
  await db.close()
  return {
    agentId: agent.id,
    sessionId: long.id,
    key: key!,
    places: { start: messages[100]!.id, end: messages[COUNT - 100]!.id },
  }
}

async function start(): Promise<{ child: ChildProcess; baseUrl: string }> {
  const env = {
    ...process.env,
    REPARTEE_DATA: folder,
    REPARTEE_PORT: '0',
    REPARTEE_SAMPLE: 'off',
    REPARTEE_RATE_LIMIT: 'off',
    REPARTEE_LOG_LEVEL: 'silent',
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.js', import.meta.url))], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const chunk of child.stdout) {
    const url = /Base URL: (\S+)/.exec(String(chunk))?.[1]
    if (url !== undefined) return { child, baseUrl: url }
  }
  throw new Error('the service did not start')
}

function read(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`${baseUrl}${path}`, { headers: { 'x-api-key': key } }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        response.statusCode === 200
          ? resolve(Buffer.concat(chunks).toString())
          : reject(new Error(`${path}: ${response.statusCode}`)),
      )
    }).on('error', reject)
  })
}
