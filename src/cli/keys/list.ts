import { connect, type Key, listAll } from '../client.ts'
import { type Command, exitCodes, jsonOption } from '../command.ts'
import { oneLine, printJson, printTable, time } from '../show.ts'

export const keysList: Command = {
  name: 'keys list',
  usage: '[--json]',
  about: 'List the keys, newest first. `repartee keys` means the same.',
  options: jsonOption,
  async run(terminal, { values }) {
    const keys = await listAll<Key>(connect(terminal.env), '/keys', 'keys')
    if (values.json) {
      printJson(terminal, { keys })
      return exitCodes.ok
    }
    const rows = keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.scopes.join(','),
      key.agentIds === null ? 'all' : String(key.agentIds.length),
      time(key.expiresAt, 'never'),
      time(key.lastUsedAt, 'never'),
      oneLine(key.name, 80),
    ])
    printTable(terminal, ['ID', 'KEY', 'SCOPES', 'AGENTS', 'EXPIRES', 'LAST USED', 'NAME'], rows, 'There are no keys.')
    return exitCodes.ok
  },
}
