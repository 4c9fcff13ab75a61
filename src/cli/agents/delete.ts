import { connect } from '../client.ts'
import { type Command, CommandError, exitCodes } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { oneLine, plural } from '../show.ts'

export const agentsDelete: Command = {
  name: 'agents delete',
  usage: '<agent> --yes',
  about: 'Delete an agent with its sessions and its knowledge base, for good.',
  takes: [1, 1],
  options: { yes: { type: 'boolean', about: 'Confirm: nothing brings it back.' } },
  details: '<agent> is an id or a whole name.',
  async run(terminal, { values, positionals: [given] }) {
    const client = connect(terminal.env)
    const { id } = await findAgent(client, given!, { whole: true })
    if (!values.yes) {
      const { name, stats } = (await client.call<'getAgent'>('GET', `/agents/${id}`)).agent
      const held = `${plural(stats.sessions, 'session')} and ${plural(stats.documents, 'document')}`
      throw new CommandError(
        `This deletes the agent "${oneLine(name, 80)}" with ${held}, for good. Say --yes if that is what you want.`,
        exitCodes.usage,
      )
    }
    const { message } = await client.call<'deleteAgent'>('DELETE', `/agents/${id}`)
    terminal.out(message)
    return exitCodes.ok
  },
}
