import { EXTRACTIVE } from '../core/ports/model.ts'
import { builtIn, type Protocol, type Provider, protocols } from '../models/provider.ts'

const NAME = /^[a-z0-9-]+$/
const FIELDS = ['protocol', 'baseUrl', 'apiKey', 'apiKeyEnv', 'headers']
const OLLAMA_PORT = 11_434
/** Names that have another meaning before a slash, or that exist without configuration. */
const TAKEN = [EXTRACTIVE, 'local', ...Object.keys(builtIn)]

/** Parses `OLLAMA_HOST` as Ollama does: host, port, both, or URL. An address for all interfaces becomes the local host. Undefined if malformed. */
export function toOllamaUrl(host: string): string | undefined {
  const text = String(host).trim().replace(/\/+$/, '')
  const [, scheme, rest] = /^(?:(https?):\/\/)?(.*)$/is.exec(text)!
  const isBareIpv6 = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(rest!)
  const place = isBareIpv6 ? `[${rest}]` : rest!.startsWith(':') || rest === '' ? `127.0.0.1${rest}` : rest!
  const url = URL.parse(`${scheme ?? 'http'}://${place}`)
  if (url === null || url.hostname === '') return undefined
  const hasPort = /:\d+$/.test(place.split('/', 1)[0]!)
  if (scheme === undefined && !hasPort) url.port = String(OLLAMA_PORT)
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  return url.href.replace(/\/+$/, '')
}

/** Parses the configured providers from JSON or its text. Adds errors to `problems`, without values. */
export function parseProviders(given: unknown, setting: string, env: NodeJS.ProcessEnv, problems: string[]): Provider[] {
  const table = typeof given === 'string' ? fromJson(given) : given
  if (!isRecord(table)) {
    problems.push(`${setting} must be an object of providers by name`)
    return []
  }
  return Object.entries(table).flatMap(([name, entry]) => {
    const place = `${setting}.${name}`
    const before = problems.length
    if (!NAME.test(name)) problems.push(`${place}: a name has lower-case letters, digits and - only`)
    else if (TAKEN.includes(name)) problems.push(`${place}: this name is taken`)
    const provider = parseProvider(name, entry, place, env, problems)
    return problems.length > before || provider === undefined ? [] : [provider]
  })
}

function parseProvider(
  name: string,
  entry: unknown,
  place: string,
  env: NodeJS.ProcessEnv,
  problems: string[],
): Provider | undefined {
  if (!isRecord(entry)) {
    problems.push(`${place} must be an object with protocol and baseUrl`)
    return undefined
  }
  const { protocol, baseUrl, apiKey, apiKeyEnv, headers = {} } = entry
  const say = (problem: string) => problems.push(`${place}${problem}`)
  for (const field of Object.keys(entry))
    if (!FIELDS.includes(field)) say(`.${field} is not known; it may have ${FIELDS.join(', ')}`)
  if (!protocols.includes(protocol as Protocol)) say(`.protocol must be one of ${protocols.join(', ')}`)
  if (typeof baseUrl !== 'string' || !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ''))
    say('.baseUrl must be an http or https URL')
  if (apiKey !== undefined && apiKeyEnv !== undefined) say(' has both apiKey and apiKeyEnv')
  if (apiKey !== undefined && !isHeaderValue(apiKey)) say('.apiKey must be text')
  const key = apiKeyEnv === undefined ? apiKey : typeof apiKeyEnv === 'string' ? env[apiKeyEnv] : undefined
  if (apiKeyEnv !== undefined && !isHeaderValue(key)) say('.apiKeyEnv names a variable that is not set')
  const areHeaders =
    isRecord(headers) && Object.entries(headers).every(([n, v]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(n) && isHeaderValue(v))
  if (!areHeaders) say('.headers must be an object of texts')
  return {
    name,
    protocol: protocol as Protocol,
    baseUrl: baseUrl as string,
    apiKey: key as string | undefined,
    headers: headers as Record<string, string>,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isHeaderValue = (value: unknown): boolean => typeof value === 'string' && /^[\t\x20-\x7e\x80-\xff]+$/.test(value)

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
