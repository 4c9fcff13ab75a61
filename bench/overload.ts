// Measures the service under overload: finds the highest message rate with p99 <= 200 ms, sends at three times that rate, then at the rate
// again. The sample agent answers from the product's documentation.
//   node bench/overload.ts [seconds of overload, default 300]
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../src/access/key-format.ts'
import { type Program, startProgram } from './processes.ts'
import { MAIN } from './stage.ts'

const [overloadSeconds = 300] = process.argv.slice(2).map(Number)
const LIMIT_MS = 200
const SESSIONS = 4_000
const HEALTH_EVERY_MS = 250
const root = fileURLToPath(new URL('..', import.meta.url))
const data = mkdtempSync(join(tmpdir(), 'repartee-overload-'))
const key = makeKey()
const agentOf = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
const questions = readdirSync(join(root, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .flatMap((name) =>
    [...readFileSync(join(root, 'docs', name), 'utf8').matchAll(/^## (.*\?)$/gm)].map(([, question]) => question!),
  )

interface Answer {
  status: number
  ms: number
  body: string
}
interface Second {
  sent: number
  statuses: Record<string, number>
  times: number[]
}

const service = await serve()
const url = new URL(service.url).origin
try {
  const { agents } = JSON.parse((await call('GET', '/v1/agents')).body) as { agents: { id: string }[] }
  const path = `/v1/agents/${agents[0]!.id}/sessions`
  const sessions: string[] = []
  while (sessions.length < SESSIONS) {
    const made = await Promise.all(Array.from({ length: 50 }, () => call('POST', path, {})))
    for (const { body } of made) sessions.push((JSON.parse(body) as { session: { id: string } }).session.id)
  }
  const pick = <T>(list: T[]): T => list[Math.floor(Math.random() * list.length)]!
  const send = () => call('POST', `${path}/${pick(sessions)}/messages`, { message: pick(questions) })

  await drive(30, 5, send)
  const rate = await highestRate(send)
  report({ what: 'highest rate with p99 <= 200 ms', perSecond: rate })
  const calm = sum(await drive(rate, 10, send))
  const idleMb = rssMb()
  report({ what: 'at that rate', ...calm, rssMb: idleMb })

  const health: number[] = []
  let healthFailed = 0
  let peakMb = idleMb
  const rssCurve: number[] = []
  const watch = setInterval(() => {
    call('GET', '/healthz').then(
      ({ status, ms }) => (status === 200 ? health.push(ms) : healthFailed++),
      () => healthFailed++,
    )
    peakMb = Math.max(peakMb, rssMb())
  }, HEALTH_EVERY_MS)
  const memory = setInterval(() => rssCurve.push(rssMb()), Math.max(1_000, overloadSeconds * 10))
  const seconds = await drive(rate * 3, overloadSeconds, send)
  clearInterval(memory)
  report({ what: 'at three times that rate', ...sum(seconds), peakRssMb: peakMb, rssMb: rssCurve.join(' ') })
  report({
    what: 'health',
    answered: health.length,
    failed: healthFailed,
    p50: at(health, 0.5),
    p99: at(health, 0.99),
    worst: at(health, 1),
  })
  const after = await drive(rate * 0.9, 20, send)
  clearInterval(watch)
  const bad = after.findLastIndex(
    ({ times, statuses }) => at(times, 0.99) > LIMIT_MS || Object.keys(statuses).some((s) => s !== '200'),
  )
  report({ what: 'behind it, at 0.9 of the rate', ...sum(after), normalAfterSeconds: bad + 1, rssMb: rssMb() })
} finally {
  await service.stop()
  rmSync(data, { recursive: true, force: true })
}

/** Raises the rate until p99 exceeds the limit, then bisects. */
async function highestRate(send: () => Promise<Answer>): Promise<number> {
  let good = 0
  let bad = Number.POSITIVE_INFINITY
  for (
    let rate = 100;
    bad / Math.max(good, 1) > 1.1;
    rate = bad === Number.POSITIVE_INFINITY ? Math.round(good * 1.4) : Math.round((good + bad) / 2)
  ) {
    const { p99, statuses } = sum(await drive(rate, 8, send))
    const isGood = p99 <= LIMIT_MS && Object.keys(statuses).every((status) => status === '200')
    report({ what: 'step', rate, p99, statuses: JSON.stringify(statuses) })
    if (isGood) good = rate
    else bad = rate
    await pause(1_000)
  }
  return good
}

/** Sends at a fixed rate, independent of responses. Resolves when all responses have arrived. */
async function drive(rate: number, seconds: number, send: () => Promise<Answer>): Promise<Second[]> {
  const all: Second[] = Array.from({ length: Math.ceil(seconds) }, () => ({ sent: 0, statuses: {}, times: [] }))
  const open = new Set<Promise<void>>()
  const begin = performance.now()
  for (let n = 0; n < rate * seconds; ) {
    const due = Math.min(rate * seconds, ((performance.now() - begin) / 1_000) * rate)
    for (; n < due; n++) {
      const second = all[Math.min(all.length - 1, Math.floor(n / rate))]!
      second.sent++
      const note = (status: string | number) => (second.statuses[status] = (second.statuses[status] ?? 0) + 1)
      const one: Promise<void> = send()
        .then(
          ({ status, ms }) => {
            note(status)
            if (status === 200) second.times.push(ms)
          },
          (error: NodeJS.ErrnoException) => void note(error.code ?? 'error'),
        )
        .finally(() => open.delete(one))
      open.add(one)
    }
    await pause(2)
  }
  await Promise.all(open)
  return all
}

function sum(seconds: Second[]) {
  const times = seconds.flatMap((second) => second.times)
  const statuses: Record<string, number> = {}
  for (const second of seconds)
    for (const [status, n] of Object.entries(second.statuses)) statuses[status] = (statuses[status] ?? 0) + n
  return {
    sent: seconds.reduce((n, { sent }) => n + sent, 0),
    statuses,
    p50: at(times, 0.5),
    p99: at(times, 0.99),
    worst: at(times, 1),
  }
}

function at(times: number[], share: number): number {
  const sorted = Float64Array.from(times).sort()
  return sorted.length === 0 ? 0 : Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]! * 10) / 10
}

function call(method: string, path: string, body?: object): Promise<Answer> {
  const begin = performance.now()
  const sent = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    'x-api-key': key,
    ...(sent === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(sent) }),
  }
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers, agent: agentOf }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode!, ms: performance.now() - begin, body: Buffer.concat(chunks).toString() }),
      )
    })
    asked.on('error', reject)
    asked.end(sent)
  })
}

function serve(): Promise<Program> {
  const env = { REPARTEE_PORT: '0', REPARTEE_DATA: data, REPARTEE_ADMIN_KEY: key }
  return startProgram(MAIN, { ...env, REPARTEE_RATE_LIMIT: 'off', REPARTEE_LOG_LEVEL: 'warn' }, null)
}

function rssMb(): number {
  const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kb) / 1_024)
}

function report(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
