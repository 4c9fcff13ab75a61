import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { CommandError, exitCodes } from './command.ts'

/** Holds the address and a key that lives as long as the process, for the commands beside a running service. */
export const LOCAL_FILE = 'local.json'

/** Where a running service is, and what lets us in. */
export interface Service {
  /** With `/v1` at its end. */
  url: string
  key: string
  /** Who says so: `REPARTEE_URL`, or the path of the file. */
  urlFrom: string
  keyFrom: string
}

/**
 * By `REPARTEE_URL` and `REPARTEE_KEY`, else by the file that `serve` leaves in the data folder.
 * Undefined where neither is there. Throws `CommandError` where one of them cannot be used.
 */
export function findService(env: NodeJS.ProcessEnv): Service | undefined {
  const { REPARTEE_URL: url, REPARTEE_KEY: key } = env
  if (url) {
    if (!key)
      throw new CommandError('REPARTEE_URL is set, REPARTEE_KEY is not: set it to a key of that service', exitCodes.config)
    return { url: toBaseUrl(url), key, urlFrom: 'REPARTEE_URL', keyFrom: 'REPARTEE_KEY' }
  }
  const path = join(loadConfig(env).data, LOCAL_FILE)
  const local = readLocal(path)
  if (local === undefined) return undefined
  return { url: local.url, key: key || local.key, urlFrom: path, keyFrom: key ? 'REPARTEE_KEY' : path }
}

/** As `findService`; throws `CommandError` where there is none. */
export function getService(env: NodeJS.ProcessEnv): Service {
  const service = findService(env)
  if (service === undefined) throw noService(`there is no ${join(loadConfig(env).data, LOCAL_FILE)}`)
  return service
}

export const noService = (why: string, cause?: unknown) =>
  new CommandError(
    `No running service found: ${why}.\nStart one with \`repartee serve\`, name its data folder with REPARTEE_DATA, or set REPARTEE_URL and REPARTEE_KEY.`,
    exitCodes.unreachable,
    { cause },
  )

/** With and without `/v1` at its end mean the same. */
function toBaseUrl(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandError('REPARTEE_URL must be an http or https URL', exitCodes.config)
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  return base.endsWith('/v1') ? base : `${base}/v1`
}

function readLocal(path: string): { url: string; key: string } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as { url: string; key: string }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (error instanceof SyntaxError) return undefined // being written this moment, or left by a crash: as good as not there
    throw new CommandError(
      `${path} cannot be read: run this as the user that runs the service, or set REPARTEE_URL and REPARTEE_KEY`,
      exitCodes.unreachable,
      { cause: error },
    )
  }
}
