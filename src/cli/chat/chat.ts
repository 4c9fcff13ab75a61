import { createInterface } from 'node:readline'
import { connect, ServiceError, type ShownAgent } from '../client.ts'
import { type Command, exitCodes, type Terminal } from '../command.ts'
import { findAgent } from '../find-agent.ts'
import { oneLine, plain } from '../show.ts'
import { Conversation } from './conversation.ts'
import { renderExchange, renderOffers, renderSource } from './render.ts'

const HELP =
  'Type a question, or the number of one that is offered. /new starts anew, /sources shows what the reply rests on, /quit ends.'
/** Long enough for a whole snippet. */
const ALL_CHARS = 10_000

export const chat: Command = {
  name: 'chat',
  usage: '<agent>',
  about: 'Talk with an agent. From a pipe it reads one question a line: echo "question" | repartee chat <agent>',
  takes: [1, 1],
  details: `Replies come with their sources; the number of an offered question asks it.
/new starts a new conversation, /sources shows the sources in full, /quit, ^C and ^D end.
From a pipe the exit code is 1 where a question was not answered.`,
  async run(terminal, { positionals: [given] }) {
    const client = connect(terminal.env)
    const agent = await findAgent(client, given!)
    const conversation = new Conversation(client, agent.id, agent.starters)
    if (terminal.isInteractive) greet(terminal, agent)
    return converse(terminal, conversation)
  },
}

function greet(terminal: Terminal, { name, greeting, starters }: ShownAgent): void {
  terminal.out(terminal.bold(oneLine(name, 200)))
  if (greeting !== '') terminal.out(plain(greeting))
  if (starters.length > 0) terminal.out(renderOffers(starters))
  terminal.out(`${HELP}\n`)
}

async function converse(terminal: Terminal, conversation: Conversation): Promise<number> {
  const { isInteractive, input, output } = terminal
  const lines = createInterface({
    input,
    terminal: isInteractive,
    prompt: terminal.bold('> '),
    ...(isInteractive ? { output } : {}),
  })
  const stop = new AbortController()
  lines.on('SIGINT', () => {
    stop.abort()
    lines.close()
  })
  const prompt = () => isInteractive && !stop.signal.aborted && lines.prompt()
  let hasFailed = false
  let hasQuit = false
  prompt()
  for await (const line of lines) {
    const text = line.trim()
    hasQuit = text === '/quit'
    if (hasQuit) break
    try {
      if (text !== '') await take(text, { terminal, conversation, signal: stop.signal })
    } catch (error) {
      if (stop.signal.aborted) break
      if (!(error instanceof ServiceError)) throw error
      terminal.err(error.message)
      hasFailed = true
    }
    prompt()
  }
  lines.close()
  if (isInteractive && !hasQuit) terminal.out('') // the prompt is still on the line
  return hasFailed && !isInteractive ? exitCodes.failed : exitCodes.ok
}

interface Talk {
  terminal: Terminal
  conversation: Conversation
  signal: AbortSignal
}

async function take(text: string, { terminal, conversation, signal }: Talk): Promise<void> {
  if (text === '/new') {
    conversation.startAnew()
    terminal.out('A new conversation.\n')
  } else if (text === '/sources') {
    const { sources } = conversation
    terminal.out(
      sources.length === 0 ? 'There are no sources.\n' : `${sources.map((s) => renderSource(s, ALL_CHARS)).join('\n\n')}\n`,
    )
  } else if (/^\/\w*$/.test(text)) {
    terminal.out(`${HELP}\n`)
  } else {
    const question = conversation.toQuestion(text)
    if (question !== text) terminal.out(`${terminal.bold('>')} ${oneLine(question, 500)}`)
    terminal.status('…')
    terminal.out(renderExchange(await conversation.ask(question, signal), terminal))
  }
}
