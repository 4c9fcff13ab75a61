import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { CommandError, exitCodes } from './command.ts'

/** The file with the address and a temporary key of a running service, for commands on the same machine. */
export const LOCAL_FILE = 'local.json'

/** The address of a running service, and a key for it. */
export interface Service {
  /** Ends with `/v1`. */
  url: string
  key: string
  /** The source of the address: `REPARTEE_URL`, or the path of the file. */
  urlFrom: string
  keyFrom: string
}

/**
 * Returns the service of `REPARTEE_URL` and `REPARTEE_KEY`, else that of the file that `serve` writes to the data folder.
 * Undefined if there is neither. Throws `CommandError` if one of them is unusable.
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

/** Returns the service as `findService` does. Throws `CommandError` if there is none. */
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

/** Returns the URL with `/v1`, which may be missing in the input. */
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
    if (error instanceof SyntaxError) return undefined // unfinished write or a crash: treated as missing
    throw new CommandError(
      `${path} cannot be read: run this as the user that runs the service, or set REPARTEE_URL and REPARTEE_KEY`,
      exitCodes.unreachable,
      { cause: error },
    )
  }
}
