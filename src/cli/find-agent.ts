import { isUuid } from '../core/platform/ids.ts'
import { type Client, listAll, ServiceError, type ShownAgent } from './client.ts'
import { CommandError } from './command.ts'
import { nearest } from './nearest.ts'
import { oneLine } from './show.ts'

/**
 * Resolves to the agent with an id, a name, or an unambiguous name prefix; case is ignored. `whole` rejects prefixes, for operations that cannot be undone.
 * Throws `CommandError` that lists the candidates.
 */
export async function findAgent(client: Client, given: string, options: { whole?: boolean } = {}): Promise<ShownAgent> {
  if (isUuid(given)) return findById(client, given)
  const agents = await listAll<ShownAgent>(client, '/agents', 'agents')
  const wanted = given.toLowerCase()
  const rules: ((name: string) => boolean)[] = [(name) => name === given, (name) => name.toLowerCase() === wanted]
  if (!options.whole) rules.push((name) => name.toLowerCase().startsWith(wanted))
  for (const rule of rules) {
    const found = agents.filter(({ name }) => rule(name))
    if (found.length === 1) return found[0]!
    if (found.length > 1)
      throw new CommandError(`More than one agent answers to "${given}"; say which by its id:\n${lines(found)}`)
  }
  throw notFound(given, agents)
}

async function findById({ call }: Client, id: string): Promise<ShownAgent> {
  try {
    return (await call<'getAgent'>('GET', `/agents/${id}`)).agent
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'agent_not_found') throw error
    throw new CommandError(`There is no agent with the id ${id}. \`repartee agents\` lists them.`, undefined, { cause: error })
  }
}

function notFound(given: string, agents: ShownAgent[]): CommandError {
  const slip = nearest(
    given,
    agents.map(({ name }) => name),
  )
  const near = agents.filter(({ name }) => name === slip || name.toLowerCase().includes(given.toLowerCase()))
  const hint = near.length === 0 ? '`repartee agents` lists them.' : `Did you mean:\n${lines(near)}`
  return new CommandError(`There is no agent "${given}". \`repartee agents create "${given}"\` makes one. ${hint}`)
}

const lines = (agents: ShownAgent[]) => agents.map(({ id, name }) => `  ${id}  ${oneLine(name, 80)}`).join('\n')
