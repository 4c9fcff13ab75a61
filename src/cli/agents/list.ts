import { connect, listAll, type ShownAgent } from '../client.ts'
import { type Command, exitCodes, jsonOption } from '../command.ts'
import { oneLine, printJson, printTable, time } from '../show.ts'

export const agentsList: Command = {
  name: 'agents list',
  usage: '[--json]',
  about: 'List the agents, newest first. `repartee agents` means the same.',
  options: jsonOption,
  async run(terminal, { values }) {
    const agents = await listAll<ShownAgent>(connect(terminal.env), '/agents', 'agents')
    if (values.json) {
      printJson(terminal, { agents })
      return exitCodes.ok
    }
    const rows = agents.map(({ id, name, model, createdAt }) => [id, time(createdAt), oneLine(model, 40), oneLine(name, 80)])
    printTable(
      terminal,
      ['ID', 'CREATED', 'MODEL', 'NAME'],
      rows,
      'There are no agents yet. `repartee agents create <name>` makes one.',
    )
    return exitCodes.ok
  },
}
