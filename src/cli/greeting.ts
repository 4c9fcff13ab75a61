import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Sample } from '../sample.ts'
import type { Terminal } from './command.ts'
import { program } from './program.ts'
import { LOCAL_FILE } from './service.ts'

export interface Greeting {
  /** The public address of the service, without `/v1`. */
  origin: string
  /** The admin key that this start created. Shown only now. */
  newAdminKey: string | undefined
  sample: Sample | undefined
}

/** Prints the start message: addresses, the key, an example request and next steps. */
export function greet(terminal: Terminal, config: Config, { origin, newAdminKey, sample }: Greeting): void {
  const baseUrl = `${origin}/v1`
  const lines = [
    '',
    `${terminal.good('Repartee is ready.')}   Base URL: ${baseUrl}`,
    '',
    `Console:        ${origin}/console/`,
    `Documentation:  ${origin}/docs/`,
    '',
    ...keyLines(terminal, config, newAdminKey),
  ]
  if (sample !== undefined) {
    const key = newAdminKey ?? `$(sed 's/.*"key":"\\([^"]*\\).*/\\1/' ${quoted(resolve(join(config.data, LOCAL_FILE)))})`
    lines.push(
      '',
      'Ask the sample agent, which knows the documentation, from another terminal:',
      '',
      curlLine(baseUrl, sample, key),
    )
  }
  lines.push('', `For an agent of your own: drag your documents into the console, or run:   ${program(terminal.env)} init`)
  lines.push(terminal.dim(`Ctrl+C stops the service; its data stays in ${placeOf(config)}.`))
  terminal.out(`${lines.join('\n')}\n`)
}

/** Returns the key if it is new, else where to find it, because only its hash is stored. */
export function keyLines(terminal: Terminal, { adminKey }: Config, newAdminKey: string | undefined): string[] {
  if (newAdminKey !== undefined) return [`Admin key, shown this once; keep it:   ${terminal.bold(newAdminKey)}`]
  if (adminKey !== undefined) return ['Admin key: the one that REPARTEE_ADMIN_KEY sets.']
  return [
    'Admin key: the one that the first start has shown. If it is lost, this makes another, from a second terminal:',
    `${program(terminal.env)} keys create --admin`,
  ]
}

const placeOf = ({ databaseUrl, data }: Config) => (databaseUrl === undefined ? resolve(data) : 'the database')

const curlLine = (baseUrl: string, { agentId, sessionId }: Sample, key: string) =>
  `curl -s ${baseUrl}/agents/${agentId}/sessions/${sessionId}/messages -H "X-API-Key: ${key}" -H "Content-Type: application/json" -d '{"message":"How do I add my own documents?"}'`

/** Quotes a path as one shell word. */
const quoted = (path: string) => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)
