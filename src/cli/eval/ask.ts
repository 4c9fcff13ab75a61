import { type Client, type HttpAnswer, listAll, ServiceError, type ShownDocument } from '../client.ts'
import type { EvalQuestion } from './question-set.ts'
import { type EvalOutcome, judge } from './score.ts'

const SEARCHED = 10
const AT_ONCE = 4

/** Resolves to the names by which a question set may refer to each document, by document id. */
export async function namesOfDocuments(client: Client, agentId: string): Promise<Map<string, string[]>> {
  const documents = await listAll<ShownDocument>(client, `/agents/${agentId}/documents`, 'documents')
  return new Map(documents.map((document) => [document.id, namesOf(document)]))
}

function namesOf({ id, title, source, metadata }: ShownDocument): string[] {
  const { file } = metadata
  return [id, title, source.filename, source.url, typeof file === 'string' ? file : undefined].filter(
    (name) => name !== undefined,
  )
}

interface Asking {
  client: Client
  agentId: string
  names: Map<string, string[]>
  signal: AbortSignal
}

/** Asks each question in its own session, which is deleted afterwards. Calls `tell` with the number of finished questions. */
export async function askAll(
  asking: Asking,
  questions: readonly EvalQuestion[],
  tell: (done: number) => void,
): Promise<EvalOutcome[]> {
  const outcomes: EvalOutcome[] = []
  let next = 0
  let done = 0
  const worker = async () => {
    for (let at = next++; at < questions.length; at = next++) {
      asking.signal.throwIfAborted()
      outcomes[at] = await askOne(asking, questions[at]!)
      tell(++done)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return outcomes
}

async function askOne(asking: Asking, question: EvalQuestion): Promise<EvalOutcome> {
  const { client, agentId, names, signal } = asking
  const { id, question: message, history } = question
  const about = { id, question: message, reply: '', answered: false, found: [], cited: [], ms: 0 }
  const unique = (ids: string[]) => [...new Set(ids)].map((document) => names.get(document) ?? [document])
  let session: string | undefined
  try {
    const { hits } = await client.call<'search'>('POST', `/agents/${agentId}/search`, {
      body: { query: message, topK: SEARCHED, history },
      signal,
      isRepeatable: true,
    })
    session = await openSession(asking, history)
    const begun = performance.now()
    const answer = (await client.call<'sendMessage'>('POST', `/agents/${agentId}/sessions/${session}/messages`, {
      body: { message, include: ['sources', 'trace'] },
      signal,
    })) as HttpAnswer<'sendMessage'>
    const outcome: EvalOutcome = {
      ...about,
      reply: answer.aiMessage.content,
      answered: answer.trace?.grounding.answered ?? true,
      found: unique(hits.map(({ documentId }) => documentId)),
      cited: unique((answer.sources ?? []).map(({ documentId }) => documentId)),
      ms: Math.round(performance.now() - begun),
    }
    const isRight = judge(question, outcome)
    return isRight === undefined ? outcome : { ...outcome, isRight }
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status < 500) throw error
    return { ...about, isRight: false, failure: error.reason }
  } finally {
    if (session !== undefined)
      await client.call('DELETE', `/agents/${agentId}/sessions/${session}`, { isRepeatable: true }).catch(() => {})
  }
}

async function openSession({ client, agentId, signal }: Asking, history: EvalQuestion['history']): Promise<string> {
  const path = `/agents/${agentId}/sessions`
  const { session } =
    history.length === 0
      ? await client.call<'createSession'>('POST', path, { body: {}, signal })
      : await client.call<'importSession'>('POST', `${path}/import`, { body: { messages: history }, signal })
  return session.id
}
