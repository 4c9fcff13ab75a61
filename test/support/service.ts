import type { ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { endsBy, killed, launch, removedAtExit } from './cleanup.ts'
import { Client } from './client.ts'
import { ModelServer } from './model-server.ts'
import { until } from './poll.ts'
import { dropDatabase, newDatabase } from './postgres.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const { SPEC_BASE_URL, SPEC_ADMIN_KEY, TEST_ENGINE } = process.env

/** Reason for `skip` if the tests run against a deployment, whose process, settings, files and model are not under our control. */
export const needsProcess: string | false =
  SPEC_BASE_URL === undefined ? false : 'needs a service of its own, and SPEC_BASE_URL names a deployment'

/** Whether the data is in files of the data folder instead of a database. */
export const keepsFiles = SPEC_BASE_URL === undefined && TEST_ENGINE !== 'postgres'

export interface Started {
  /** A program with arguments that starts the service. */
  by?: string[]
  /** The file for the service's output. */
  log?: string
}

export interface Service {
  /** Calls with the admin key. */
  client: Client
  /** The model behind agents whose model is `openai/stub`. */
  model: ModelServer
  /** The data folder. */
  data: string
  /** The URL of the service's PostgreSQL database, if any. */
  database: string | undefined
  /** Creates an agent and resolves to its id. By default it uses the stub model, except in a deployment. */
  newAgent(settings?: object): Promise<string>
  /** Creates a session and resolves to its path. */
  newSession(agentId: string, body?: object): Promise<string>
  /** Ends the service with its data folder and its model. Runs with the end of the test file at the latest. */
  stop(): Promise<void>
  /** Ends the service like a crash. */
  kill(): Promise<void>
  /** Ends the service with a signal and preserves its data. Resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>
  /** Starts the service again on the same data folder. `env` adds to its settings permanently. */
  restart(env?: Record<string, string>): Promise<void>
  /** Process id, while the process runs. */
  pid(): number | undefined
  /** Exit code, if the process has ended by itself. */
  exitCode(): number | null
  /** Returns all output since the last start. */
  printed(): string
}

/** Starts a service for one test file: a process with an empty data folder, or the deployment that `SPEC_BASE_URL` names. */
export async function startService(env: Record<string, string> = {}, { by = [], log }: Started = {}): Promise<Service> {
  const model = new ModelServer()
  const address = { baseUrl: SPEC_BASE_URL?.replace(/\/$/, '') ?? '' }
  const adminKey = env.REPARTEE_ADMIN_KEY ?? SPEC_ADMIN_KEY ?? makeKey()
  const client = new Client(address, adminKey)
  const data = SPEC_BASE_URL === undefined ? removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-spec-'))) : ''
  const made: string[] = []
  let child: ChildProcess | undefined
  let written = ''
  const printed = () => (log === undefined ? written : readFileSync(log, 'utf8'))

  const start = async (more: Record<string, string> = {}) => {
    if (SPEC_BASE_URL !== undefined) return
    Object.assign(settings, more)
    const [command, ...args] = [...by, process.execPath, MAIN]
    const output = log === undefined ? 'pipe' : openSync(log, 'w')
    child = launch(command!, args, { env: settings, stdio: ['ignore', output, output] })
    if (typeof output === 'number') closeSync(output)
    written = ''
    for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk: Buffer) => (written += chunk))
    address.baseUrl = await readBaseUrl(child, printed)
  }
  const end = async (signal: NodeJS.Signals) => {
    if (child !== undefined) await killed(child, signal)
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
    // Features that a test does not request must not delay it.
    REPARTEE_MODEL_RETRIES: '0',
    REPARTEE_BREAKER: 'off',
    REPARTEE_MAX_DELAY_MS: '0',
    ...PATIENT,
    OPENAI_BASE_URL: await model.listen(),
    ...env,
  }
  const stop = endsBy('the service', async () => {
    // Cuts off pending model calls, so that they do not delay the end.
    model.close()
    if (SPEC_BASE_URL !== undefined) for (const id of made) await client.delete(`/agents/${id}`)
    await end('SIGTERM')
    if (database !== undefined) await dropDatabase(database)
    if (data !== '') rmSync(data, { recursive: true, force: true })
  })
  await start().catch(async (error: unknown) => {
    await stop()
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
    stop,
    kill: () => end('SIGKILL'),
    end,
    restart: start,
    pid: () => child?.pid,
    exitCode: () => child?.exitCode ?? null,
    printed,
  }
}

/** Limits that even slow machines do not reach. A test of a limit sets it lower. */
const PATIENT = {
  REPARTEE_MAX_WAIT_MS: '300000',
  REPARTEE_TURN_TIMEOUT_MS: '300000',
  REPARTEE_MODEL_TIMEOUT_MS: '300000',
  REPARTEE_SIDE_CALL_TIMEOUT_MS: '300000',
  REPARTEE_EMBEDDING_TIMEOUT_MS: '300000',
  REPARTEE_FETCH_TIMEOUT_MS: '300000',
  REPARTEE_READ_TIMEOUT_MS: '300000',
  REPARTEE_STREAM_STALL_MS: '300000',
}

/** The machine's environment without settings of the service. */
const inherited = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(REPARTEE|OPENAI|ANTHROPIC|GOOGLE|GEMINI|OLLAMA|OTEL|NODE_TEST|NODE_OPTIONS)/.test(name),
    ),
  )

async function readBaseUrl(child: ChildProcess, printed: () => string): Promise<string> {
  let code: number | null | undefined
  child.on('close', (ended) => {
    code = ended
  })
  return until('the service is ready', () => {
    if (code !== undefined) throw new Error(`the service ended with ${code} before it was ready:\n${printed()}`)
    return /Base URL: (\S+)\n/.exec(printed())?.[1]
  })
}

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a valid key: `rpt_`, 34 base-62 characters, and their CRC-32 as 6 base-62 digits. */
export function makeKey(): string {
  let random = ''
  while (random.length < 34) random += DIGITS[randomInt(62)]
  let check = ''
  for (let n = crc32(random); check.length < 6; n = Math.floor(n / 62)) check = DIGITS[n % 62] + check
  return `rpt_${random}${check}`
}
