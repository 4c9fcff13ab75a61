import { scopes as knownScopes, type Scope } from '../../core/api-key.ts'
import { type Client, connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption, type ParsedArguments } from '../command.ts'
import { toTime } from '../duration.ts'
import { findAgent } from '../find-agent.ts'
import { didYouMean } from '../nearest.ts'
import { createAdminKey } from './create-admin.ts'
import { printSecret } from './show.ts'

export const keysCreate: Command = {
  name: 'keys create',
  usage:
    '<name> --scopes LIST [--agents LIST] [--expires TIME] [--tokens-per-day N] [--cost-per-day DOLLARS] [--json], or --admin [<name>]',
  about: 'Create a key and print it, this once.',
  takes: [0, 1],
  options: {
    scopes: { type: 'string', value: 'LIST', about: `What it may do: ${knownScopes.join(', ')}; separated by commas.` },
    agents: {
      type: 'string',
      value: 'LIST',
      about: 'The agents that it sees, by id or name, separated by commas. Default: all.',
    },
    expires: {
      type: 'string',
      value: 'TIME',
      about: 'When it ends: a date, a time with its zone, or a span from now (90d, 12h).',
    },
    'tokens-per-day': { type: 'string', value: 'N', about: 'What models may take with it in a day, in tokens.' },
    'cost-per-day': { type: 'string', value: 'DOLLARS', about: 'The same in US dollars.' },
    admin: { type: 'boolean', about: 'An admin key for all agents; works on the data folder of a stopped service too.' },
    ...jsonOption,
  },
  details: `Only the key goes to stdout: KEY=$(repartee keys create website --scopes chat)
The admin key is lost? Stop the service, and \`repartee keys create --admin\` makes another in its data folder.`,
  async run(terminal, { values, positionals: [name] }) {
    const answer = values.admin
      ? await createAdminKey(terminal.env, checkAdmin(values, name))
      : await create(connect(terminal.env), checkScopes(values.scopes), values, name)
    printSecret(terminal, answer, values.json === true)
    return exitCodes.ok
  },
}

async function create(
  { call, service }: Client,
  scopes: Scope[],
  { agents, expires, 'tokens-per-day': tokens, 'cost-per-day': cost }: ParsedArguments['values'],
  name: string | undefined,
) {
  if (name === undefined)
    throw new CommandError('Say what the key is for: repartee keys create <name> --scopes LIST', exitCodes.usage)
  const expiresAt = expires === undefined ? {} : { expiresAt: toTime(expires as string, Date.now()) }
  const budget = {
    ...(tokens === undefined ? {} : { tokensPerDay: toNumber('--tokens-per-day', tokens as string) }),
    ...(cost === undefined ? {} : { costPerDay: toNumber('--cost-per-day', cost as string) }),
  }
  const given = agents === undefined ? [] : toList(agents as string)
  const agentIds: string[] = []
  for (const agent of given) agentIds.push((await findAgent({ call, service }, agent, { whole: true })).id)
  return call<'createKey'>('POST', '/keys', {
    body: {
      name,
      scopes,
      ...expiresAt,
      ...(agents === undefined ? {} : { agentIds }),
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
    },
  })
}

function toNumber(option: string, text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !(number > 0)) throw new CommandError(`${option} must be a number above 0`, exitCodes.usage)
  return number
}

function checkAdmin(values: ParsedArguments['values'], name: string | undefined): string {
  if (['scopes', 'agents', 'expires', 'tokens-per-day', 'cost-per-day'].some((option) => values[option] !== undefined)) {
    throw new CommandError(
      '--admin makes a key for everything: leave out --scopes, --agents, --expires and the budget',
      exitCodes.usage,
    )
  }
  return name ?? 'admin'
}

function checkScopes(given: ParsedArguments['values'][string]): Scope[] {
  if (given === undefined)
    throw new CommandError(`Say what it may do: --scopes ${knownScopes.join(',')}, or some of them`, exitCodes.usage)
  const wanted = [...new Set(toList(given as string))]
  for (const scope of wanted) {
    if (!(knownScopes as readonly string[]).includes(scope)) {
      throw new CommandError(
        `There is no scope "${scope}".${didYouMean(scope, knownScopes)} There are ${knownScopes.join(', ')}.`,
        exitCodes.usage,
      )
    }
  }
  return wanted as Scope[]
}

const toList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
