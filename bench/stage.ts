import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../src/access/key-format.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { requestText } from './load.ts'
import { type Program, pin, startProgram } from './processes.ts'

export type Engine = 'sqlite' | 'postgres'

export const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const { scripts } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { scripts: { start: string } }
/** The service, started like `npm start`. */
export const MAIN = [...scripts.start.split(' ').slice(1, -1), here('../src/start.js')]
export const FLOOR = here('floor.ts')

/** The service, or the floor: a process with the specified interface. */
export interface System {
  program: Program
  /** The processes whose time and memory count, including the PostgreSQL server. */
  roots: number[]
  /** Milliseconds from the start to the first healthy response. */
  coldMs: number
  /** Returns a request under `/v1`. */
  text(method: string, path: string, body?: object, headers?: Record<string, string>): string
  /** Sends a request once and resolves to its body. Throws on a status other than 2xx. */
  // biome-ignore lint/suspicious/noExplicitAny: the answers of a service under measure
  ask(method: string, path: string, body?: object): Promise<any>
  /** Creates an agent and resolves to its id. */
  newAgent(settings?: object): Promise<string>
}

export interface Data {
  folder: string
  /** A database URL, if the data is not in the folder. */
  database?: string | undefined
}

/** Everything that a benchmark starts, and its folder. Ended in reverse order. */
export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'repartee-bench-'))
  readonly #ends: (() => unknown)[] = [() => rmSync(this.folder, { recursive: true, force: true })]
  #model: Promise<Program> | undefined
  #folders = 0

  model(): Promise<Program> {
    this.#model ??= this.#keep(startProgram([here('model.ts')], {}, 'driver'))
    return this.#model
  }

  /** Creates an empty data location. PostgreSQL gets its own server, so that its processor time can be measured separately. */
  async place(engine: Engine): Promise<Data & { roots: number[] }> {
    const folder = join(this.folder, String(this.#folders++))
    if (engine === 'sqlite') return { folder, roots: [] }
    const server = await startPostgres({ fsync: 'on', shared_buffers: '512MB', max_wal_size: '4GB' })
    this.#ends.push(() => server.stop())
    pin(server.pid, 'server')
    return { folder, database: server.url, roots: [server.pid] }
  }

  async service(
    { folder, database, roots = [] }: Data & { roots?: number[] },
    env: Record<string, string> = {},
  ): Promise<System> {
    const key = makeKey()
    const program = await this.#keep(
      startProgram(MAIN, {
        REPARTEE_PORT: '0',
        REPARTEE_DATA: folder,
        ...(database === undefined ? {} : { REPARTEE_DATABASE_URL: database }),
        REPARTEE_ADMIN_KEY: key,
        REPARTEE_SAMPLE: 'off',
        REPARTEE_RATE_LIMIT: 'off',
        REPARTEE_LOG_LEVEL: 'warn',
        REPARTEE_MAX_DELAY_MS: '0',
        OPENAI_BASE_URL: (await this.model()).url,
        OPENAI_API_KEY: 'x',
        ...env,
      }),
    )
    const system = await systemOf(program, roots, { 'x-api-key': key })
    return {
      ...system,
      newAgent: async (settings) =>
        (await system.ask('POST', '/agents', { name: 'bench', model: 'openai/short', ...settings })).agent.id,
    }
  }

  async floor({ folder, database, roots = [] }: Data & { roots?: number[] }): Promise<System> {
    const place = database === undefined ? ['--file', `${folder}.db`] : ['--database', database]
    const program = await this.#keep(startProgram([FLOOR, '--model', (await this.model()).url, ...place]))
    return { ...(await systemOf(program, roots, {})), newAgent: async () => randomUUID() }
  }

  async end(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end()
  }

  async #keep(starting: Promise<Program>): Promise<Program> {
    const program = await starting
    this.#ends.push(() => program.stop())
    return program
  }
}

async function systemOf(program: Program, roots: number[], key: Record<string, string>): Promise<Omit<System, 'newAgent'>> {
  const begun = performance.now()
  const health = await fetch(new URL('/healthz', program.url))
  if (!health.ok) throw new Error(`${program.url} is not healthy: ${health.status}`)
  return {
    program,
    roots: [program.pid, ...roots],
    coldMs: program.startedMs + performance.now() - begun,
    text: (method, path, body, headers) => requestText(method, `/v1${path}`, { ...key, ...headers }, body),
    async ask(method, path, body) {
      const json =
        body === undefined ? {} : { headers: { ...key, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const answer = await fetch(program.url + path, { method, headers: key, ...json })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
      return JSON.parse(text)
    },
  }
}
