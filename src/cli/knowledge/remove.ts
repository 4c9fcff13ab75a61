import { isUuid } from '../../core/platform/ids.ts'
import { type Client, connect, listAll, type ShownDocument } from '../client.ts'
import { type Command, CommandError, exitCodes } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { didYouMean } from '../nearest.ts'

export const knowledgeRemove: Command = {
  name: 'knowledge remove',
  usage: '<agent> <document>',
  about: 'Remove a document, by its id or its title, from what an agent knows, at once.',
  takes: [2, 2],
  details: '`repartee knowledge list <agent>` lists the ids and titles.',
  async run(terminal, { positionals: [agent, document] }) {
    const client = connect(terminal.env)
    const { id: agentId } = await findAgent(client, agent!)
    const id = isUuid(document!) ? document! : await findByTitle(client, agentId, document!)
    const { message } = await client.call<'deleteDocument'>('DELETE', `/agents/${agentId}/documents/${id}`)
    terminal.out(message)
    return exitCodes.ok
  },
}

async function findByTitle(client: Client, agentId: string, title: string): Promise<string> {
  const documents = await listAll<ShownDocument>(client, `/agents/${agentId}/documents`, 'documents')
  const found = documents.filter((d) => d.title === title)
  if (found.length === 1) return found[0]!.id
  if (found.length > 1) {
    const ids = found.map(({ id, createdAt }) => `  ${id}  added ${createdAt}`)
    throw new CommandError(`More than one document is called "${title}"; say which by its id:\n${ids.join('\n')}`)
  }
  const titles = documents.map((d) => d.title)
  throw new CommandError(`There is no document "${title}".${didYouMean(title, titles)} \`repartee knowledge list\` lists them.`)
}
