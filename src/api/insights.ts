import { AgentPath, closed, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const count = Type.Integer({ minimum: 0 })

export const insightOperations = () => ({
  getInsights: operation({
    id: 'getInsights',
    method: 'GET',
    path: '/agents/{agentId}/insights',
    tag: 'Knowledge',
    summary: 'What came of the conversations with an agent',
    description: 'Of the last 30 days, unless other times are given.',
    scopes: ['knowledge'],
    params: AgentPath,
    query: Type.Object(
      {
        from: Type.Optional(Timestamp('Only replies of this time or later.')),
        to: Type.Optional(Timestamp('Only replies before this time.')),
      },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      days: Type.Array(
        Type.Object({
          date: Type.String({ format: 'date', description: 'A day of UTC on which there were turns.' }),
          turns: count,
          sessions: count,
          users: count,
          tokensIn: count,
          tokensOut: count,
          cost: Type.Number({ minimum: 0, description: 'In US dollars, of the replies whose price is known.' }),
          latencyMs: Type.Union([Type.Object({ p50: Type.Number(), p95: Type.Number() }), Type.Null()]),
        }),
      ),
      ratings: Type.Object({ up: count, down: count }),
      unanswered: Type.Array(
        Type.Object({
          question: Type.String({ description: 'As it was asked last, up to 2,000 characters of it.' }),
          count,
          lastAskedAt: Timestamp('When it was asked last.'),
          sessionIds: Type.Array(Uuid('A session in which it was asked.')),
        }),
        { description: 'Questions that the knowledge base could not answer, alike ones together, most frequent first.' },
      ),
      documents: Type.Array(
        Type.Object({ documentId: Uuid('The document.'), title: Type.String(), cited: count, up: count, down: count }),
        {
          description:
            'The 1,000 most cited documents, most cited first. Then up to 500 without a citation. Where more than 10,000 were cited, counts of rarely cited documents may be too low, and documents without a citation are left out.',
        },
      ),
    }),
  }),
})
