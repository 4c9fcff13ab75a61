import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashKey, makeKey, shownPrefix } from '../access/key-format.ts'
import type { App } from '../app.ts'
import { type Config, loadConfig } from '../config/config.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Sample } from '../sample.ts'
import { type Command, CommandError, exitCodes, type Terminal } from './command.ts'
import { unknownNames } from './doctor/effective-settings.ts'
import { greet } from './greeting.ts'
import { LOCAL_FILE } from './service.ts'

/** Added to the time for running requests. */
const CLOSE_WITHIN_MS = 30_000

export const serve: Command = {
  name: 'serve',
  usage: '',
  about: 'Run the service (the default). Settings come from the environment: see docs/configuration.md.',
  async run(terminal) {
    const config = loadConfig(terminal.env)
    return runService(terminal, config, async ({ app, origin, newAdminKey, stop }) => {
      const sample = await Promise.race([makeSample(app, config), stop])
      greet(terminal, config, { origin, newAdminKey, sample: sample ?? undefined })
    })
  },
}

interface Running {
  app: App
  /** The public address of the service. */
  origin: string
  newAdminKey: string | undefined
  /** Resolves on a request to stop. */
  stop: Promise<void>
}

/** Runs the service until a signal stops it. Calls `begin` when the service answers; if `begin` fails, the service stops. Resolves to the exit code. */
export async function runService(
  terminal: Terminal,
  config: Config,
  begin: (running: Running) => Promise<void>,
): Promise<number> {
  // On a terminal, a line for every request would scroll the start message away.
  const app = await open({ ...config, logLevel: config.logLevel ?? (terminal.isWatched ? 'warn' : 'info') })
  for (const { name, meant } of unknownNames(terminal.env))
    app.deps.warn(`${name} is not a setting${meant === undefined ? '' : `; did you mean ${meant}?`}`)
  const address = await listen(app, config)
  const origin = config.publicUrl?.replace(/\/+$/, '') ?? address
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
  const keyFile = join(config.data, LOCAL_FILE)
  try {
    leaveKey(app, keyFile, `${address}/v1`)
  } catch (error) {
    await app.close()
    throw cannotStart(error, config)
  }
  try {
    await Promise.race([begin({ app, origin, newAdminKey: app.newAdminKey, stop }), stop])
    await stop
  } finally {
    rmSync(keyFile, { force: true })
    await closeInTime(app, config)
  }
  return exitCodes.ok
}

/** Throws if closing hangs, for example on an unresponsive database connection. Stored data is safe, and the process must end. */
async function closeInTime(app: App, { leaveMs, drainMs }: Config): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new CommandError('The service did not end in time.')),
    leaveMs + drainMs + CLOSE_WITHIN_MS,
  )
  try {
    await Promise.race([app.close(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Creates the sample. The service also works without it. */
async function makeSample({ deps }: App, { sample, data }: Config): Promise<Sample | undefined> {
  if (!sample) return undefined
  const { ensureSample } = await import('../sample.ts')
  return ensureSample(deps, data).catch((error: unknown) => {
    deps.warn('the sample agent could not be made', error)
    return undefined
  })
}

async function open(config: Config): Promise<App> {
  try {
    // Loaded here, so that the help does not load the whole service.
    const { openApp } = await import('../app.ts')
    return await openApp(config)
  } catch (error) {
    throw cannotStart(error, config)
  }
}

function cannotStart(error: unknown, config: Config): CommandError {
  const { code, message } = error as NodeJS.ErrnoException
  const reason: Record<string, string> = {
    EACCES: `the data folder ${config.data} cannot be written`,
    EROFS: `the data folder ${config.data} cannot be written`,
    ENOTDIR: `${config.data} is not a folder`,
    EEXIST: `${config.data} is not a folder`,
    ENOSPC: 'there is no room on the disk',
  }
  return new CommandError(`Repartee cannot start: ${reason[code ?? ''] ?? unavailable(error, config) ?? message}`)
}

/** Returns a start error for the operator. Error messages for API callers lack the cause. */
function unavailable(error: unknown, { data, databaseUrl }: Config): string | undefined {
  if (!(error instanceof ReparteeError) || !(error.cause instanceof Error)) return undefined
  return `${databaseUrl === undefined ? `the data folder ${data}` : 'the database'} cannot be used: ${error.cause.message}`
}

async function listen(app: App, { host, port }: Config): Promise<string> {
  try {
    return await app.listen()
  } catch (error) {
    await app.close()
    const { code, message } = error as NodeJS.ErrnoException
    const reason =
      code === 'EADDRINUSE' ? `port ${port} of ${host} is taken: stop what listens there, or set REPARTEE_PORT` : message
    throw new CommandError(`Repartee cannot start: ${reason}`)
  }
}

/** Writes a temporary key, which is not in the store, to a file for the owner of the data folder. It expires with the process. */
function leaveKey(app: App, path: string, url: string): void {
  const key = makeKey()
  const { newId, clock, keys } = app.deps
  const rights = {
    name: 'local',
    scopes: ['admin' as const],
    agentIds: null,
    expiresAt: null,
    lastUsedAt: null,
    budget: null,
    fixed: true,
  }
  keys.adopt({ ...rights, id: newId(), hash: hashKey(key), prefix: shownPrefix(key), createdAt: clock() })
  rmSync(path, { force: true })
  writeFileSync(path, `${JSON.stringify({ url, key })}\n`, { mode: 0o600 })
  chmodSync(path, 0o600)
}
