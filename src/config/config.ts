import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { isKeyLike } from '../access/key-format.ts'
import type { Limits } from '../core/ports/limits.ts'
import type { Provider } from '../models/provider.ts'
import { parseHosts } from '../net/guarded-fetch.ts'
import { parseProviders, toOllamaUrl } from './parse-providers.ts'
import { type Setting, type SettingName, settings } from './settings.ts'

interface Values {
  text: string
  integer: number
  switch: boolean
  secret: string
  providers: readonly Provider[]
}
type ValueOf<S extends Setting> = Values[S['kind']]
type Value<S extends Setting> = 'fallback' extends keyof S ? ValueOf<S> : ValueOf<S> | undefined
export type Config = { readonly [N in SettingName]: Value<(typeof settings)[N]> } & Readonly<Limits>

/** Invalid settings. The message names every problem, and never a value. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`The configuration cannot be used:\n${problems.map((p) => `  - ${p}`).join('\n')}`)
    this.name = 'ConfigError'
  }
}

/**
 * Returns the effective settings: from the environment, else the JSON file of `REPARTEE_CONFIG`, else the defaults.
 * A secret may also be in a file that its name with the suffix `_FILE` names. Throws `ConfigError`.
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = []
  const file = readConfigFile(env.REPARTEE_CONFIG, problems)
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings) as [SettingName, Setting][]) {
    const given = readSecretFile(env, setting, problems) ?? (env[setting.env] === '' ? undefined : env[setting.env]) ?? file[name]
    config[name] = given === undefined ? setting.fallback : parse(setting, given, env, problems)
  }
  check(config as unknown as Config, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  return Object.freeze(config) as unknown as Config
}

function parse(setting: Setting, given: unknown, environment: NodeJS.ProcessEnv, problems: string[]): unknown {
  const { env, kind, min = 0, max = Number.MAX_SAFE_INTEGER } = setting
  if (kind === 'providers')
    return parseProviders(given, typeof given === 'string' ? env : 'REPARTEE_CONFIG: providers', environment, problems)
  if (kind === 'integer') {
    const n = typeof given === 'number' ? given : /^\d{1,15}$/.test(String(given)) ? Number(given) : Number.NaN
    if (!Number.isInteger(n) || n < min || n > max) problems.push(`${env} must be a whole number from ${min} to ${max}`)
    return n
  }
  if (kind === 'switch') {
    const on = /^(on|true|1|yes)$/i.test(String(given))
    if (!on && !/^(off|false|0|no)$/i.test(String(given))) problems.push(`${env} must be on or off`)
    return on
  }
  if (typeof given !== 'string') problems.push(`${env} must be text`)
  return given
}

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'silent']

function check(config: Config, problems: string[]): void {
  const { adminKey, databaseUrl, logLevel, openaiProtocol, ollamaHost, trustProxy, allowedOrigins } = config
  if (adminKey !== undefined && !isKeyLike(adminKey)) {
    problems.push('REPARTEE_ADMIN_KEY is not of the right form: `repartee keys generate` prints a key that is')
  }
  if (logLevel !== undefined && !LEVELS.includes(logLevel))
    problems.push(`REPARTEE_LOG_LEVEL must be one of ${LEVELS.join(', ')}`)
  if (openaiProtocol !== 'chat' && openaiProtocol !== 'responses')
    problems.push('REPARTEE_OPENAI_PROTOCOL must be chat or responses')
  if (ollamaHost !== undefined && toOllamaUrl(ollamaHost) === undefined)
    problems.push('OLLAMA_HOST must be a host, host:port or an http URL')
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const value = config[name as keyof Config] as string | undefined
    if (setting.form === 'key' && /[^\x20-\x7e]/.test(value ?? '')) problems.push(`${setting.env} has characters that no key has`)
    if (setting.form === 'url' && value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      problems.push(`${setting.env} must be an http or https URL`)
  }
  if (parseHosts(config.fetchAllow) === undefined)
    problems.push('REPARTEE_FETCH_ALLOW must be host:port, several with commas between')
  if (parseSeconds(config.webhookRetrySeconds) === undefined)
    problems.push('REPARTEE_WEBHOOK_RETRY_SECONDS must be whole seconds, up to a week, with commas between')
  for (const origin of allowedOrigins?.split(',') ?? []) {
    const text = origin.trim()
    if (text !== '*' && URL.parse(text)?.origin !== text)
      problems.push('REPARTEE_ALLOWED_ORIGINS must be origins like https://example.com, without a path, with commas between')
  }
  if (trustProxy !== undefined && !trustProxy.split(',').every((item) => isNetwork(item.trim())))
    problems.push('REPARTEE_TRUST_PROXY must be IP addresses, or networks like 10.0.0.0/8, with commas between')
  // `URL` does not accept a database URL without a host, for a socket in the file system.
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\/\S+$/.test(databaseUrl))
    problems.push('REPARTEE_DATABASE_URL must be like postgres://user:password@host:port/name')
}

/** Parses whole seconds, separated by commas; empty for none. Undefined if malformed. */
export function parseSeconds(text: string): number[] | undefined {
  const parts = text.split(',').flatMap((part) => part.trim() || [])
  return parts.every((part) => /^\d{1,6}$/.test(part) && Number(part) <= 604_800) ? parts.map(Number) : undefined
}

function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...more] = text.split('/')
  const version = isIP(address)
  return version !== 0 && more.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

function readConfigFile(path: string | undefined, problems: string[]): Record<string, unknown> {
  if (!path) return {}
  try {
    const file = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    for (const name of Object.keys(file)) if (!Object.hasOwn(settings, name)) problems.push(`${path}: ${name} is not a setting`)
    return file
  } catch (error) {
    problems.push(`REPARTEE_CONFIG: ${path} ${error instanceof SyntaxError ? 'is not valid JSON' : 'cannot be read'}`)
    return {}
  }
}

function readSecretFile(env: NodeJS.ProcessEnv, { env: name, kind }: Setting, problems: string[]): string | undefined {
  const path = kind === 'secret' ? env[`${name}_FILE`] : undefined
  if (!path) return undefined
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    problems.push(`${name}_FILE names a file that cannot be read`)
    return undefined
  }
}
