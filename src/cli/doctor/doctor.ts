import { type Config, ConfigError, loadConfig } from '../../config/config.ts'
import { type Command, exitCodes, jsonOption, type Terminal } from '../command.ts'
import { printJson } from '../show.ts'
import { type EffectiveSetting, effectiveSettings, unknownNames } from './effective-settings.ts'
import { type Finding, fail, ok, warn } from './finding.ts'
import { checkFolder, checkNode } from './machine.ts'
import { checkModels } from './models.ts'
import { checkService } from './reach.ts'
import { checkDatabase, checkStore } from './store.ts'

export const doctor: Command = {
  name: 'doctor',
  usage: '[--json]',
  about: 'Show the effective settings, secrets masked, and look for whatever would keep the service from working.',
  options: jsonOption,
  details: 'The exit code is 1 where something is wrong; what is only worth knowing does not count. Nothing is changed.',
  async run(terminal, { values }) {
    const settings = effectiveSettings(terminal.env)
    const findings = await examine(terminal.env)
    const isWell = findings.every(({ state }) => state !== 'fail')
    if (values.json) printJson(terminal, { ok: isWell, checks: findings, settings })
    else print(terminal, settings, findings)
    return isWell ? exitCodes.ok : exitCodes.failed
  },
}

async function examine(env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { config, findings } = checkConfig(env)
  if (config === undefined) return [checkNode(), ...findings]
  const service = await checkService(env, config)
  return [
    checkNode(),
    ...findings,
    ...checkFolder(config),
    ...service.findings,
    ...(config.databaseUrl === undefined ? checkStore(config, service.isRunning) : await checkDatabase(config.databaseUrl)),
    ...checkModels(config),
  ]
}

function checkConfig(env: NodeJS.ProcessEnv): { config?: Config; findings: Finding[] } {
  const strays = unknownNames(env).map(({ name, meant }) =>
    warn('settings', `${name} is not a setting`, meant === undefined ? 'Take it out.' : `Did you mean ${meant}?`),
  )
  try {
    const config = loadConfig(env)
    return { config, findings: strays.length > 0 ? strays : [ok('settings', 'understood')] }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { findings: [fail('settings', error.message, 'The service cannot start until this is put right.'), ...strays] }
  }
}

function print(terminal: Terminal, settings: EffectiveSetting[], findings: Finding[]): void {
  const width = Math.max(...settings.map(({ name }) => name.length))
  terminal.out(terminal.bold('Settings'))
  for (const { name, value, from } of settings) {
    terminal.out(`  ${name.padEnd(width)}  ${shown(value)}${from === 'default' ? '' : `  (${from})`}`)
  }
  terminal.out(terminal.bold('\nChecks'))
  for (const { name, state, message, advice } of findings) {
    terminal.out(`  ${state.padEnd(4)}  ${name}: ${message.replaceAll('\n', '\n        ')}`)
    if (advice !== undefined) terminal.out(`        ${advice}`)
  }
}

const shown = (value: EffectiveSetting['value']): string =>
  value === null ? '-' : String(value === true ? 'on' : value === false ? 'off' : value)
