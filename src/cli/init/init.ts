import { basename, resolve } from 'node:path'
import { loadConfig } from '../../config/config.ts'
import { type Client, connect, connectTo, type HttpAnswer, listAll, type ShownAgent } from '../client.ts'
import { type Command, CommandError, exitCodes, type ParsedArguments, type Terminal } from '../command.ts'
import { keyLines } from '../greeting.ts'
import { knowledgeSync } from '../knowledge/sync.ts'
import { program } from '../program.ts'
import { runService } from '../serve.ts'
import { findService } from '../service.ts'
import { oneLine } from '../show.ts'
import { Asker } from './ask.ts'
import { askFirstQuestion } from './first-question.ts'
import { chooseFolder } from './folder.ts'
import { chooseModel, type FoundModels, findModels } from './models.ts'

const MAX_NAME_CHARS = 200

interface Wishes {
  folder: string
  name: string
  model: string
}

export const init: Command = {
  name: 'init',
  usage: '[--folder <folder>] [--name <name>] [--model <model>] [--yes]',
  about: 'Make an agent that answers from a folder of yours: asks three questions, and leaves the agent running.',
  options: {
    folder: { type: 'string', value: '<folder>', about: 'The folder of documents.' },
    name: { type: 'string', value: '<name>', about: 'What to call the agent; the name of the folder if left out.' },
    model: {
      type: 'string',
      value: '<model>',
      about: 'The model that writes the replies; if left out the first that is found, else extractive.',
    },
    yes: { type: 'boolean', about: 'Ask nothing: what is left out is as it is found.' },
  },
  details: `A service that runs on the data folder is used; otherwise one is started, and runs until Ctrl+C.
Run again with the same name, it brings the agent up to date with the folder, and makes no second one.
Example: repartee init --folder ~/handbook --name "Handbook" --yes`,
  async run(terminal, { values }) {
    const running = await findRunning(terminal.env)
    const found = await findModels(terminal.env, running)
    const wishes = await ask(terminal, values, found)
    if (running !== undefined) {
      const work = await setUp(terminal, running, wishes)
      if (work === exitCodes.ok) terminal.out(wayOn(terminal, wishes, running.service.url.replace(/\/v1$/, '')).join('\n'))
      return work
    }
    const more = wishes.model.startsWith('ollama/') ? found.env : {}
    const env = { ...terminal.env, ...more }
    const config = loadConfig({ REPARTEE_LOG_LEVEL: 'warn', ...env })
    return runService(terminal, config, async ({ origin, newAdminKey }) => {
      const work = await setUp(terminal, connect(env), wishes)
      if (work !== exitCodes.ok) throw new CommandError('Not everything could be added: see above.', work)
      const again = [...Object.entries(more).map(([name, value]) => `${name}=${value}`), startCommand(terminal)].join(' ')
      const lines = [
        ...wayOn(terminal, wishes, origin),
        '',
        ...keyLines(terminal, config, newAdminKey),
        terminal.dim(`The service runs until Ctrl+C. This starts it again:   ${again}`),
      ]
      terminal.out(`${lines.join('\n')}\n`)
    })
  },
}

const startCommand = ({ env }: Terminal) => (program(env) === 'repartee' ? 'repartee serve' : 'npm start')

/** Resolves to the running service of the settings, if any. Throws if `REPARTEE_URL` names one that does not answer. */
async function findRunning(env: NodeJS.ProcessEnv): Promise<Client | undefined> {
  const service = findService(env)
  if (service === undefined) return undefined
  const client = connectTo(service)
  try {
    await client.call<'listAgents'>('GET', '/agents', { query: { limit: '1' } })
    return client
  } catch (error) {
    // The file was left by a crash, and the next start replaces it.
    const isLeft = service.urlFrom !== 'REPARTEE_URL' && error instanceof CommandError && error.exitCode === exitCodes.unreachable
    if (!isLeft) throw error
    return undefined
  }
}

async function ask(terminal: Terminal, values: ParsedArguments['values'], found: FoundModels): Promise<Wishes> {
  const given = values as Partial<Record<'folder' | 'name' | 'model', string>>
  const isAsking = terminal.isInteractive && values.yes !== true
  if (!isAsking && given.folder === undefined) {
    throw new CommandError(
      'There is nobody here to ask: say --folder <folder>, and --name <name> and --model <model> where they should not be as they are found.',
      exitCodes.usage,
    )
  }
  const asker = isAsking ? new Asker(terminal) : undefined
  try {
    const folder = await chooseFolder(asker, given.folder)
    const name = given.name ?? (await asker?.ask('What should the agent be called?', basename(resolve(folder)))) ?? ''
    const wishes = { folder, name: name.trim() || basename(resolve(folder)), model: await chooseModel(asker, given.model, found) }
    if ([...wishes.name].length > MAX_NAME_CHARS)
      throw new CommandError(`A name has ${MAX_NAME_CHARS} characters at most.`, exitCodes.usage)
    return wishes
  } finally {
    asker?.close()
  }
}

/** Creates or reuses the agent, syncs its folder, and asks a first question. Resolves to the exit code. */
async function setUp(terminal: Terminal, client: Client, { folder, name, model }: Wishes): Promise<number> {
  const agent = await takeAgent(client, name, model)
  terminal.out(`\nThe agent "${oneLine(name, 80)}" learns from ${folder} …`)
  const code = await knowledgeSync.run({ ...terminal, env: envOf(client) }, { values: {}, positionals: [agent.id, folder] })
  if (code === exitCodes.interrupted) return code
  await askFirstQuestion(terminal, client, agent)
  return code
}

/** Returns the environment for the service that was found, so that a newer file in the data folder is ignored. */
const envOf = ({ service: { url, key } }: Client) => ({ REPARTEE_URL: url, REPARTEE_KEY: key })

async function takeAgent({ call, service }: Client, name: string, model: string): Promise<ShownAgent> {
  const known = (await listAll<ShownAgent>({ call, service }, '/agents', 'agents')).find((agent) => agent.name === name)
  if (known === undefined) {
    const body = { name, model, followUps: { enabled: true } }
    return (await call<'createAgent'>('POST', '/agents', { body })).agent
  }
  if (known.model === model) return known
  const path = `/agents/${known.id}`
  return ((await call<'updateAgent'>('PATCH', path, { body: { model } })) as HttpAnswer<'createAgent'>).agent
}

function wayOn(terminal: Terminal, { folder, name }: Wishes, origin: string): string[] {
  const command = program(terminal.env)
  const word = (text: string) => (/^[\w./-]+$/.test(text) ? text : `"${text.replace(/["\\$`]/g, '\\$&')}"`)
  return [
    terminal.good('The agent is ready.'),
    '',
    `Console:        ${origin}/console/`,
    `Documentation:  ${origin}/docs/`,
    `Ask more:       ${command} chat ${word(name)}`,
    `After changes:  ${command} knowledge sync ${word(name)} ${word(resolve(folder))}`,
  ]
}
