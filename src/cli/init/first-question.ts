import { innermost } from '../../core/headings.ts'
import type { Hit } from '../../core/ports/retrieval.ts'
import { phraseQuestions } from '../../knowledge/answer/phrase-questions.ts'
import { renderExchange } from '../chat/render.ts'
import { type Client, type HttpAnswer, listAll, type ShownAgent, type ShownDocument } from '../client.ts'
import type { Terminal } from '../command.ts'
import { oneLine } from '../show.ts'

const MAX_DOCUMENTS = 5
const MAX_SEARCHES = 20
/** Limited because each question may cost a model call. */
const MAX_ASKED = 3

/** Asks a question that the documents should answer, and shows the reply with its sources. Shows nothing if there is no such question. */
export async function askFirstQuestion(terminal: Terminal, client: Client, agent: ShownAgent): Promise<void> {
  const path = `/agents/${agent.id}/sessions`
  for (const question of await findQuestions(client, agent.id)) {
    const { session } = await client.call<'createSession'>('POST', path, { body: { name: 'First question' } })
    const answer = (await client.call<'sendMessage'>('POST', `${path}/${session.id}/messages`, {
      body: { message: question, include: ['sources', 'trace'] },
    })) as HttpAnswer<'sendMessage'>
    if (answer.trace?.grounding.answered !== false && (answer.sources ?? []).length > 0) {
      terminal.out(`\nA first question:   ${terminal.bold(oneLine(question, 200))}\n\n${renderExchange(answer, terminal)}`)
      return
    }
    await client.call('DELETE', `${path}/${session.id}`, { isRepeatable: true })
  }
  terminal.out('')
}

/** Resolves to questions generated from passages, each of which finds its own passage. */
async function findQuestions(client: Client, agentId: string): Promise<string[]> {
  const documents = await listAll<ShownDocument>(client, `/agents/${agentId}/documents`, 'documents', { status: 'ready' })
  const candidates: { question: string; passageId: string }[] = []
  for (const { id, title } of documents.slice(0, MAX_DOCUMENTS)) {
    const { passages } = await client.call<'listPassages'>('GET', `/agents/${agentId}/documents/${id}/passages`, {
      query: { limit: '10' },
    })
    for (const passage of passages) {
      const hit = { ...passage, passageId: passage.id, title } as unknown as Hit
      // Without question phrasing for the language, the heading serves as the question.
      const questions = [...phraseQuestions(hit), ...(passage.heading === '' ? [] : [innermost(passage.heading)])]
      candidates.push(...questions.map((question) => ({ question, passageId: passage.id })))
    }
  }
  const found: string[] = []
  for (const { question, passageId } of candidates.slice(0, MAX_SEARCHES)) {
    if (found.length === MAX_ASKED) break
    const { hits } = await client.call<'search'>('POST', `/agents/${agentId}/search`, {
      body: { query: question, topK: 1 },
      isRepeatable: true,
    })
    if (hits[0]?.passageId === passageId) found.push(question)
  }
  return found
}
