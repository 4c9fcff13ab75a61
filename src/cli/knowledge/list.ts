import { connect, listAll, type ShownDocument } from '../client.ts'
import { type Command, exitCodes, jsonOption } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { oneLine, plain, printJson, printTable, time } from '../show.ts'

export const knowledgeList: Command = {
  name: 'knowledge list',
  usage: '<agent> [--json]',
  about: 'List the documents that an agent knows, newest first.',
  takes: [1, 1],
  options: jsonOption,
  async run(terminal, { values, positionals: [given] }) {
    const client = connect(terminal.env)
    const { id } = await findAgent(client, given!)
    const documents = await listAll<ShownDocument>(client, `/agents/${id}/documents`, 'documents')
    if (values.json) {
      printJson(terminal, { documents })
      return exitCodes.ok
    }
    const rows = documents.map((d) => [d.id, time(d.updatedAt), d.status, String(d.passageCount), oneLine(d.title, 80)])
    printTable(terminal, ['ID', 'CHANGED', 'STATUS', 'PASSAGES', 'TITLE'], rows, 'It knows no documents yet.')
    for (const { id, error } of documents) if (error !== null) terminal.err(`${id} failed: ${plain(error.message)}`)
    return exitCodes.ok
  },
}
