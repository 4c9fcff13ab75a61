import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Answer, GetInsightsResponse, Hit } from 'repartee-client'
import { useClient, useRights } from '../session/session.tsx'
import { keyOf } from './client.ts'

export type Insights = Omit<GetInsightsResponse, 'success'>
export type Unanswered = Insights['unanswered'][number]

/** Statistics of the conversations in a time span. */
export function useInsights(agentId: string, span: { from: string; to: string }) {
  const client = useClient()
  return useQuery({
    queryKey: keyOf.of(agentId, 'insights', span),
    queryFn: ({ signal }): Promise<Insights> => client.insights.get({ agentId, ...span }, { signal }),
  })
}

/** The result of asking the agent again. A key without the `chat` scope gets search hits instead of a reply. */
export type Trial = { documentId: string } & ({ answer: Answer } | { hits: Hit[] })

export interface NewAnswer {
  question: string
  heading: string
  text: string
  /** Id of the document that an earlier attempt wrote, which did not lead to a good reply. */
  documentId: string | undefined
}

export type Step = 'writing' | 'reading' | 'asking'

const HITS = 3

/** Writes an answer into the knowledge base and asks the agent again, in a temporary session. Reports each step, and the id of the document once it exists. */
export function useAddAnswer(agentId: string, onStep: (step: Step) => void, onDocument: (id: string) => void) {
  const client = useClient()
  const rights = useRights()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: async ({ question, heading, text, documentId }: NewAnswer): Promise<Trial> => {
      onStep('writing')
      const body = { title: heading, markdown: `# ${heading}\n\n${text}\n` }
      const { document } = await (documentId === undefined
        ? client.documents.add({ agentId, ...body })
        : client.documents.replace({ agentId, documentId, ...body }))
      onDocument(document.id)
      onStep('reading')
      const done = await client.documents.whenDone({ agentId, documentId: document.id })
      if (done.status === 'failed') throw new Error(done.error?.message ?? done.status)
      onStep('asking')
      if (!rights.can('chat')) {
        const { hits } = await client.documents.search({ agentId, query: question, topK: HITS })
        return { documentId: document.id, hits }
      }
      const { session } = await client.sessions.create({ agentId, name: question.slice(0, 80) })
      try {
        const include = ['sources' as const, 'trace' as const]
        const answer = await client.messages.send({ agentId, sessionId: session.id, message: question, include })
        return { documentId: document.id, answer }
      } finally {
        // Nothing waits for this. If it fails, an ordinary session is left, which can be deleted in the list of conversations.
        client.sessions.delete({ agentId, sessionId: session.id }).catch(() => {})
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keyOf.of(agentId, 'documents') }),
  })
}

const answeredKey = (agentId: string) => keyOf.of(agentId, 'answered')

/** The questions that were answered in this tab. The service does not store that they were answered, so closing the tab loses the list. */
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
