import { existsSync, readFileSync } from 'node:fs'
import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts'
import { program } from '../program.ts'
import { oneLine, printJson } from '../show.ts'

export const agentsCreate: Command = {
  name: 'agents create',
  usage: '<name> [--model MODEL] [--instructions FILE|TEXT] [--follow-ups] [--json]',
  about: 'Create an agent.',
  takes: [1, 1],
  options: {
    model: {
      type: 'string',
      value: 'MODEL',
      about: 'The model that replies: extractive, or provider/name. Default: REPARTEE_MODEL.',
    },
    instructions: {
      type: 'string',
      value: 'FILE|TEXT',
      about: 'How it should behave: a file that holds the text, or the text itself.',
    },
    'follow-ups': { type: 'boolean', about: 'Offer questions after each reply.' },
    ...jsonOption,
  },
  details: 'Example: repartee agents create "Support" --instructions ./support.md --follow-ups',
  async run(terminal, { values, positionals: [name] }) {
    const { call } = connect(terminal.env)
    const { agent } = await call<'createAgent'>('POST', '/agents', {
      body: {
        name,
        ...(values.model === undefined ? {} : { model: values.model }),
        ...(values.instructions === undefined ? {} : { instructions: toInstructions(values.instructions as string) }),
        ...(values['follow-ups'] ? { followUps: { enabled: true } } : {}),
      },
    })
    if (values.json) printJson(terminal, { agent })
    else {
      terminal.out(`Created the agent "${oneLine(agent.name, 80)}": ${agent.id}`)
      terminal.out(`Give it something to know: ${program(terminal.env)} knowledge add ${agent.id} <file|folder>…`)
    }
    return exitCodes.ok
  },
}

/** Returns the instructions, read from a file if one has that name. Throws if the text looks like a file name without such a file. */
function toInstructions(given: string): string {
  if (existsSync(given)) {
    try {
      return readFileSync(given, 'utf8')
    } catch (cause) {
      throw new CommandError(`The instructions cannot be read: ${given} is not a file that you may read.`, exitCodes.failed, {
        cause,
      })
    }
  }
  if (/^(\S*[/\\])?\S+\.(md|markdown|txt)$/i.test(given)) throw new CommandError(`There is no file ${given}.`)
  return given
}
