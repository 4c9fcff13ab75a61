import { readFileSync } from 'node:fs'
import { ConfigError, loadConfig } from '../../config/config.ts'
import { type Setting, type SettingName, settings } from '../../config/settings.ts'
import type { Provider } from '../../models/provider.ts'
import { nearest } from '../nearest.ts'

/** A setting as the service reads it. Never contains the value of a secret. */
export interface EffectiveSetting {
  name: string
  value: string | number | boolean | null
  /** `environment`, `environment (NAME_FILE)`, `file`, or `default`. */
  from: string
}

/** Names that only the commands read. */
const CLIENT_NAMES = ['REPARTEE_URL', 'REPARTEE_KEY', 'REPARTEE_CONFIG']

/** Returns all settings. Values are null if the configuration is invalid. */
export function effectiveSettings(env: NodeJS.ProcessEnv): EffectiveSetting[] {
  const config = tryConfig(env)
  const file = tryFile(env.REPARTEE_CONFIG)
  return (Object.entries(settings) as [SettingName, Setting][]).map(([key, setting]) => ({
    name: setting.env,
    value: shown(setting, config?.[key]),
    from: sourceOf(env, setting, Object.hasOwn(file, key)),
  }))
}

function sourceOf(env: NodeJS.ProcessEnv, { env: name, kind }: Setting, isInFile: boolean): string {
  if (kind === 'secret' && env[`${name}_FILE`]) return `environment (${name}_FILE)`
  if (env[name]) return 'environment'
  return isInFile ? 'file' : 'default'
}

function shown({ kind }: Setting, value: string | number | boolean | readonly Provider[] | undefined): EffectiveSetting['value'] {
  if (value === undefined) return null
  if (typeof value === 'object') return value.map(({ name, protocol }) => `${name} (${protocol})`).join(', ')
  if (kind === 'secret') return '(set)'
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url?.password ? String(value).replace(`:${url.password}@`, ':***@') : value
}

/** Returns environment names that look like settings but are unknown. */
export function unknownNames(env: NodeJS.ProcessEnv): { name: string; meant: string | undefined }[] {
  const all = Object.values<Setting>(settings)
  const secretFiles = all.filter(({ kind }) => kind === 'secret').map(({ env: name }) => `${name}_FILE`)
  const known = new Set([...all.map(({ env: name }) => name), ...secretFiles, ...CLIENT_NAMES])
  const strays = Object.keys(env).filter((name) => name.startsWith('REPARTEE_') && !known.has(name))
  return strays.map((name) => ({ name, meant: nearest(name, known) }))
}

function tryConfig(env: NodeJS.ProcessEnv) {
  try {
    return loadConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

function tryFile(path: string | undefined): object {
  try {
    return path ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {}
  } catch {
    return {}
  }
}
