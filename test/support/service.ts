import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { Client } from './client.ts'
import { ModelServer } from './model-server.ts'
import { dropDatabase, newDatabase } from './postgres.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const START_WITHIN_MS = 20_000
const { SPEC_BASE_URL, SPEC_ADMIN_KEY, TEST_ENGINE } = process.env

/** For `skip`: the reason, where the tests run against a deployment whose process, settings, files and model are not ours. */
export const needsProcess: string | false =
  SPEC_BASE_URL === undefined ? false : 'needs a service of its own, and SPEC_BASE_URL names a deployment'

export interface Service {
  /** Calls with the admin key. */
  client: Client
  /** The model behind agents whose model is `openai/stub`. */
  model: ModelServer
  /** The data folder. */
  data: string
  /** The address of its PostgreSQL database, where it has one. */
  database: string | undefined
  /** Makes an agent and resolves to its id. It asks the stub, unless told otherwise or where the service is not ours. */
  newAgent(settings?: object): Promise<string>
  /** Makes a session and resolves to the path of it. */
  newSession(agentId: string, body?: object): Promise<string>
  /** Ends it for good, with its data folder and its model. */
  stop(): Promise<void>
  /** Ends it as a crash does. */
  kill(): Promise<void>
  /** Ends it with a signal, and keeps its data. Resolves when it is gone. */
  end(signal: NodeJS.Signals): Promise<void>
  /** Starts it again on the same data folder; `env` adds to its settings from then on. */
  restart(env?: Record<string, string>): Promise<void>
  /** Of the process, while there is one. */
  pid(): number | undefined
  /** All that it has printed since it was started last. */
  printed(): string
}

/** A service for one test file: a process of its own with an empty data folder; or the deployment that `SPEC_BASE_URL` names. */
export async function startService(env: Record<string, string> = {}): Promise<Service> {
  const model = new ModelServer()
  const address = { baseUrl: SPEC_BASE_URL?.replace(/\/$/, '') ?? '' }
  const adminKey = env.REPARTEE_ADMIN_KEY ?? SPEC_ADMIN_KEY ?? makeKey()
  const client = new Client(address, adminKey)
  const data = SPEC_BASE_URL === undefined ? mkdtempSync(join(tmpdir(), 'repartee-spec-')) : ''
  const made: string[] = []
  let child: ChildProcess | undefined
  let printed = ''

  const start = async (more: Record<string, string> = {}) => {
    if (SPEC_BASE_URL !== undefined) return
    Object.assign(settings, more)
    child = spawn(process.execPath, [MAIN], { env: settings, stdio: ['ignore', 'pipe', 'pipe'] })
    printed = ''
    for (const output of [child.stdout!, child.stderr!]) output.on('data', (chunk: Buffer) => (printed += chunk))
    address.baseUrl = await readBaseUrl(child, () => printed)
  }
  const end = async (signal: NodeJS.Signals) => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  const database = TEST_ENGINE === 'postgres' && SPEC_BASE_URL === undefined ? await newDatabase() : undefined
  const settings: Record<string, string | undefined> = {
    ...inherited(),
    ...(database === undefined ? {} : { REPARTEE_DATABASE_URL: database }),
    REPARTEE_PORT: '0',
    REPARTEE_DATA: data,
    REPARTEE_ADMIN_KEY: adminKey,
    REPARTEE_SAMPLE: 'off',
    REPARTEE_RATE_LIMIT: 'off',
    REPARTEE_LOG_LEVEL: 'silent',
    // What a test does not ask for must not hold it up.
    REPARTEE_MODEL_RETRIES: '0',
    REPARTEE_BREAKER: 'off',
    OPENAI_BASE_URL: await model.listen(),
    ...env,
  }
  const clear = async () => {
    model.close()
    if (database !== undefined) await dropDatabase(database)
    if (data !== '') rmSync(data, { recursive: true, force: true })
  }
  await start().catch(async (error: unknown) => {
    await clear()
    throw error
  })

  return {
    client,
    model,
    data,
    database,
    async newAgent(given) {
      const usual = SPEC_BASE_URL === undefined ? { model: 'openai/stub' } : {}
      const { status, text, body } = await client.post('/agents', { name: 'An agent', ...usual, ...given })
      if (status !== 201) throw new Error(`no agent could be made: ${status} ${text}`)
      made.push(body.agent.id)
      return body.agent.id
    },
    async newSession(agentId, given = {}) {
      const { status, text, body } = await client.post(`/agents/${agentId}/sessions`, given)
      if (status !== 201) throw new Error(`no session could be made: ${status} ${text}`)
      return `/agents/${agentId}/sessions/${body.session.id}`
    },
    async stop() {
      if (SPEC_BASE_URL !== undefined) for (const id of made) await client.delete(`/agents/${id}`)
      // What a test left hanging is cut off, so that nothing holds up the end.
      model.close()
      await end('SIGTERM')
      await clear()
    },
    kill: () => end('SIGKILL'),
    end,
    restart: start,
    pid: () => child?.pid,
    printed: () => printed,
  }
}

/** What the machine sets for every process, without what it sets for a service of its own. */
const inherited = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(REPARTEE|OPENAI|ANTHROPIC|GOOGLE|GEMINI|OLLAMA|NODE_TEST|NODE_OPTIONS)/.test(name),
    ),
  )

async function readBaseUrl(child: ChildProcess, printed: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.stdout!.on('data', () => {
    const [, url] = /Base URL: (\S+)\n/.exec(printed()) ?? []
    if (url !== undefined) resolve(url)
  })
  child.on('close', (code) => reject(new Error(`the service ended with ${code} before it was ready:\n${printed()}`)))
  const timer = setTimeout(() => reject(new Error(`the service is not ready after 20 s:\n${printed()}`)), START_WITHIN_MS)
  return promise.finally(() => clearTimeout(timer))
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** A key of the right form: `rpt_`, 34 base-62 characters, and the CRC-32 of those as 6 base-62 digits. */
export function makeKey(): string {
  let random = ''
  while (random.length < 34) random += DIGITS[randomInt(62)]
  let check = ''
  for (let n = crc32(random); check.length < 6; n = Math.floor(n / 62)) check = DIGITS[n % 62] + check
  return `rpt_${random}${check}`
}
