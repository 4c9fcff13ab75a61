import { connect, type HttpAnswer } from '../client.ts'
import { type Command, exitCodes, jsonOption, type Terminal } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { oneLine, plain, plural, printJson, time } from '../show.ts'

export const agentsShow: Command = {
  name: 'agents show',
  usage: '<agent> [--json]',
  about: 'Show the settings of an agent, and how much it holds.',
  takes: [1, 1],
  options: jsonOption,
  async run(terminal, { values, positionals: [given] }) {
    const client = connect(terminal.env)
    const { id } = await findAgent(client, given!)
    const { agent } = await client.call<'getAgent'>('GET', `/agents/${id}`)
    if (values.json) printJson(terminal, { agent })
    else print(terminal, agent)
    return exitCodes.ok
  },
}

function print(terminal: Terminal, agent: HttpAnswer<'getAgent'>['agent']): void {
  const { id, name, stats, instructions, starters, createdAt, updatedAt, ...settings } = agent
  terminal.out(terminal.bold(oneLine(name, 200)))
  const held = [
    plural(stats.documents, 'document'),
    plural(stats.passages, 'passage'),
    plural(stats.sessions, 'session'),
    plural(stats.messages, 'message'),
  ]
  const lines: [string, string][] = [
    ['id', id],
    ['holds', held.join(', ')],
    ['created', time(createdAt)],
    ['changed', time(updatedAt)],
    ...flatten(settings),
  ]
  const width = Math.max(...lines.map(([label]) => label.length))
  for (const [label, text] of lines) terminal.out(`  ${label.padEnd(width)}  ${text}`)
  if (starters.length > 0) terminal.out(`\nStarters\n${starters.map((text) => `  - ${oneLine(text, 200)}`).join('\n')}`)
  if (instructions !== '') terminal.out(`\nInstructions\n${plain(instructions).replace(/^/gm, '  ')}`)
}

/** Returns the settings that are set, with their paths for a PATCH. */
function flatten(settings: object, above = ''): [string, string][] {
  return Object.entries(settings).flatMap(([name, value]): [string, string][] => {
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return []
    if (typeof value !== 'object' || Array.isArray(value)) return [[above + name, oneLine(String(value), 200)]]
    return flatten(value as object, `${above}${name}.`)
  })
}
