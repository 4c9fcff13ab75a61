import { connect, type HttpAnswer, listAll, type ShownDocument } from '../client.ts'
import { type Command, exitCodes } from '../command.ts'
import { toTime } from '../duration.ts'
import { findAgent } from '../find-agent.ts'

type Message = HttpAnswer<'listMessages'>['messages'][number]

/** The number of earlier messages that an exported question includes for context. */
const HISTORY_SHOWN = 6

export const evalExport: Command = {
  name: 'eval-export',
  usage: '<agent> [--since TIME]',
  about: 'Print the questions whose replies were rated, as a question set for eval.',
  takes: [1, 1],
  options: {
    since: { type: 'string', value: 'TIME', about: 'Only sessions active since: a date, a time, or a span back (30d).' },
  },
  details: `A reply rated up makes its question one that the cited documents answer. One rated down makes a question without
expectations: say yourself what should have been answered, or that the documents do not know.
  repartee eval-export shop > questions.jsonl`,
  async run(terminal, { values, positionals: [given] }) {
    const client = connect(terminal.env)
    const { id } = await findAgent(client, given!)
    const documents = await listAll<ShownDocument>(client, `/agents/${id}/documents`, 'documents')
    const titles = new Map(documents.map(({ id, title }) => [id, title]))
    const from = values.since === undefined ? {} : { from: sinceTime(values.since as string) }
    const sessions = await listAll<{ id: string }>(client, `/agents/${id}/sessions`, 'sessions', from)
    let count = 0
    for (const [at, session] of sessions.entries()) {
      terminal.status(`Reading ${at + 1}/${sessions.length}`)
      const path = `/agents/${id}/sessions/${session.id}`
      const messages = await listAll<Message>(client, `${path}/messages`, 'messages')
      for (const [place, { id: messageId, role }] of messages.entries()) {
        if (role !== 'AI' || messages[place - 1]?.role !== 'USER') continue
        const { message } = await client.call<'getMessage'>('GET', `${path}/messages/${messageId}`)
        if (message.feedback === undefined) continue
        count++
        terminal.out(JSON.stringify(toQuestion(messages, place, message, titles)))
      }
    }
    terminal.err(count === 0 ? 'No reply was rated.' : `${count} rated.`)
    return exitCodes.ok
  },
}

function toQuestion(
  messages: readonly Message[],
  place: number,
  { id, feedback, sources }: HttpAnswer<'getMessage'>['message'],
  titles: Map<string, string>,
): object {
  const history = messages
    .slice(Math.max(0, place - 1 - HISTORY_SHOWN), place - 1)
    .map(({ role, content }) => ({ role, content }))
  const documents = [...new Set((sources ?? []).map(({ documentId, title }) => titles.get(documentId) ?? title))]
  return {
    id,
    question: messages[place - 1]!.content,
    ...(history.length === 0 ? {} : { history }),
    ...(feedback?.rating === 'up' && documents.length > 0 ? { documents } : {}),
  }
}

/** Returns the ISO time. Here `30d` means thirty days ago. */
function sinceTime(text: string): string {
  const now = Date.now()
  const at = Date.parse(toTime(text, now))
  return new Date(/^\d+[smhd]$/.test(text) ? 2 * now - at : at).toISOString()
}
