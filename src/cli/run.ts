import { parseArgs } from 'node:util'
import { ConfigError } from '../config/config.ts'
import { version } from '../core/platform/version.ts'
import { type Command, CommandError, exitCodes, type ParsedArguments, type Terminal } from './command.ts'
import { commandHelp, overview, usageLine } from './help.ts'
import { didYouMean } from './nearest.ts'
import { asTyped } from './program.ts'
import { commands, groupDefaults, groups } from './registry.ts'
import { processTerminal } from './terminal.ts'

/** Runs the command in the arguments, or the service without one. Resolves to the exit code. */
export async function run(args: string[], terminal: Terminal = processTerminal(process.env)): Promise<number> {
  try {
    return await dispatch(args, terminal)
  } catch (error) {
    const [first, ...more] = asTyped(error instanceof Error ? error.message : String(error), terminal.env).split('\n')
    terminal.err([terminal.bad(first!), ...more].join('\n'))
    if (error instanceof CommandError) return error.exitCode
    return error instanceof ConfigError ? exitCodes.config : exitCodes.failed
  }
}

const HELP = new Set(['help', '--help', '-h'])

async function dispatch(args: string[], terminal: Terminal): Promise<number> {
  const [first, second] = args
  if (first !== undefined && HELP.has(first)) return say(terminal, await helpOn(args.slice(1)))
  if (first === '--version' || first === '-v') return say(terminal, version)
  if (groups.has(first ?? '') && HELP.has(second ?? '')) return say(terminal, await overview(first))
  const { name, rest } = await choose(args)
  const command = await commands[name]!()
  const parsed = parse(command, rest)
  if (parsed.values.help) return say(terminal, commandHelp(command))
  checkCount(command, parsed)
  return command.run(terminal, parsed)
}

function say(terminal: Terminal, text: string): number {
  terminal.out(asTyped(text, terminal.env))
  return exitCodes.ok
}

/** Resolves to the command's name and the remaining arguments. Throws `CommandError` with the nearest name. */
async function choose(args: string[]): Promise<{ name: string; rest: string[] }> {
  const [first, second] = args
  if (first === undefined || first.startsWith('-')) return { name: 'serve', rest: args }
  if (Object.hasOwn(commands, first)) return { name: first, rest: args.slice(1) }
  if (!groups.has(first)) {
    const hint = didYouMean(first, [...Object.keys(commands), ...groups])
    throw new CommandError(`There is no command "${first}".${hint} \`repartee --help\` lists them.`, exitCodes.usage)
  }
  if (second === undefined || second.startsWith('-')) {
    const name = groupDefaults[first]
    if (name !== undefined) return { name, rest: args.slice(1) }
    throw new CommandError(`Say what to do with ${first}:\n${await overview(first)}`, exitCodes.usage)
  }
  const name = `${first} ${second}`
  if (Object.hasOwn(commands, name)) return { name, rest: args.slice(2) }
  const hint = didYouMean(name, Object.keys(commands))
  throw new CommandError(`There is no command "${name}".${hint}\n${await overview(first)}`, exitCodes.usage)
}

async function helpOn(words: string[]): Promise<string> {
  if (words.length === 0) return overview()
  if (words.length === 1 && groups.has(words[0]!)) return overview(words[0])
  return commandHelp(await commands[(await choose(words)).name]!())
}

function parse(command: Command, args: string[]): ParsedArguments {
  const options = { ...command.options, help: { type: 'boolean', short: 'h' } as const }
  try {
    return parseArgs({ args, options, allowPositionals: true }) as ParsedArguments
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    const [, unknown] = /^Unknown option '(-+[^']*)'/.exec(message) ?? []
    if (unknown === undefined && !code?.startsWith('ERR_PARSE_ARGS')) throw error
    const known = Object.keys(options).map((name) => `--${name}`)
    const reason = unknown === undefined ? `${message}.` : `There is no option ${unknown}.${didYouMean(unknown, known)}`
    throw new CommandError(`${reason}\n${usageLine(command)}`, exitCodes.usage)
  }
}

function checkCount(command: Command, { positionals }: ParsedArguments): void {
  const [min, max] = command.takes ?? [0, 0]
  if (positionals.length < min) {
    const missing = command.usage.match(/<[^<>]+>/g)?.[positionals.length] ?? 'an argument'
    throw new CommandError(`${missing} is missing.\n${usageLine(command)}`, exitCodes.usage)
  }
  if (positionals.length > max) {
    const tooMany = positionals.slice(max).map((text) => JSON.stringify(text))
    throw new CommandError(
      `Too many arguments: ${tooMany.join(' ')}. A name with spaces needs quotes.\n${usageLine(command)}`,
      exitCodes.usage,
    )
  }
}
