import { connect } from '../client.ts'
import { type Command, exitCodes } from '../command.ts'
import { toKeyId } from './key-id.ts'

export const keysRevoke: Command = {
  name: 'keys revoke',
  usage: '<id>',
  about: 'Revoke a key, at once.',
  takes: [1, 1],
  details: '`repartee keys` lists the ids.',
  async run(terminal, { positionals: [id] }) {
    const { message } = await connect(terminal.env).call<'deleteKey'>('DELETE', `/keys/${toKeyId(id!)}`)
    terminal.out(message)
    return exitCodes.ok
  },
}
