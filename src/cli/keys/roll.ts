import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes, jsonOption } from '../command.ts'
import { toSeconds } from '../duration.ts'
import { toKeyId } from './key-id.ts'
import { printSecret } from './show.ts'

export const keysRoll: Command = {
  name: 'keys roll',
  usage: '<id> [--overlap SPAN] [--json]',
  about: 'Replace a key by a new one with the same rights, and print that, this once.',
  takes: [1, 1],
  options: {
    overlap: {
      type: 'string',
      value: 'SPAN',
      about: 'How long the old key still works: 30m, 12h, 7d; 0s ends it now. Default: 1d.',
    },
    ...jsonOption,
  },
  async run(terminal, { values, positionals: [id] }) {
    const given = values.overlap as string | undefined
    const overlapSeconds = given === undefined ? undefined : toSeconds(given)
    if (given !== undefined && overlapSeconds === undefined) {
      throw new CommandError(`"${given}" is no span of time: give 30m, 12h or 7d`, exitCodes.usage)
    }
    const body = overlapSeconds === undefined ? {} : { overlapSeconds }
    printSecret(
      terminal,
      await connect(terminal.env).call<'rollKey'>('POST', `/keys/${toKeyId(id!)}/roll`, { body }),
      values.json === true,
    )
    return exitCodes.ok
  },
}
