import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Answer, GetInsightsResponse, Hit } from 'repartee-client'
import { useClient, useRights } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type Insights = Omit<GetInsightsResponse, 'success'>
export type Unanswered = Insights['unanswered'][number]

/** What came of the conversations from one time to another. */
export function useInsights(agentId: string, span: { from: string; to: string }) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'insights', span),
    queryFn: ({ signal }): Promise<Insights> => client.insights.get(agentId, span, { signal }),
  })
}

/** What an agent makes of a question now. A key that may not chat sees what would be found, and no reply. */
export type Trial = { documentId: string } & ({ answer: Answer } | { hits: Hit[] })

export interface NewAnswer {
  question: string
  heading: string
  text: string
  /** Of the document that was written before, and did not do. */
  documentId: string | undefined
}

export type Step = 'writing' | 'reading' | 'asking'

const HITS = 3

/**
 * Writes an answer into the knowledge base and asks the agent the question again, in a session that is deleted behind it. It tells each
 * step, and of the document as soon as there is one.
 */
export function useAddAnswer(agentId: string, onStep: (step: Step) => void, onDocument: (id: string) => void) {
  const client = useClient()
  const rights = useRights()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ question, heading, text, documentId }: NewAnswer): Promise<Trial> => {
      onStep('writing')
      const body = { title: heading, markdown: `# ${heading}\n\n${text}\n` }
      const { document } = await (documentId === undefined
        ? client.documents.add(agentId, body)
        : client.documents.replace(agentId, documentId, body))
      onDocument(document.id)
      onStep('reading')
      const done = await client.documents.whenDone(agentId, document.id)
      if (done.status === 'failed') throw new Error(done.error?.message ?? done.status)
      onStep('asking')
      if (!rights.can('chat')) {
        const { hits } = await client.documents.search(agentId, { query: question, topK: HITS })
        return { documentId: document.id, hits }
      }
      const { session } = await client.sessions.create(agentId, { name: question.slice(0, 80) })
      try {
        const include = ['sources' as const, 'trace' as const]
        const answer = await client.messages.send(agentId, session.id, { message: question, include })
        return { documentId: document.id, answer }
      } finally {
        // Nobody waits for it; one that stays behind is an ordinary session, which can be deleted among the conversations.
        client.sessions.delete(agentId, session.id).catch(() => {})
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'documents') }),
  })
}

const answeredKey = (agentId: string) => keyOf.of(agentId, 'answered')

/** The questions that were given an answer here. The service knows only what was asked, so this is forgotten with the tab. */
export function useAnswered(agentId: string) {
  const queries = useQueryClient()
  const { data } = useQuery<readonly string[]>({
    queryKey: answeredKey(agentId),
    queryFn: () => [],
    enabled: false,
    initialData: [],
    gcTime: Number.POSITIVE_INFINITY,
  })
  const add = (question: string) =>
    queries.setQueryData<readonly string[]>(answeredKey(agentId), (old = []) => [...old, question])
  return { answered: data, add }
}
