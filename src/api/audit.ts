import { closed, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const TextOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const auditOperations = () => ({
  listAudit: operation({
    id: 'listAudit',
    method: 'GET',
    path: '/audit',
    tag: 'Audit',
    summary: 'What was changed by those who run the service, newest first',
    description:
      'Changes of agents, documents, sources and keys, and what was handed over or erased of end users. An entry is written before the act, and completed behind it.',
    scopes: ['admin'],
    params: Nothing,
    query: Type.Object(
      {
        cursor: Type.Optional(Uuid('ID of the entry after which the page starts.')),
        limit: Type.Optional(Limit),
        from: Type.Optional(Timestamp('Only acts at or after this time.')),
        to: Type.Optional(Timestamp('Only acts before this time.')),
        agentId: Type.Optional(Uuid('Only acts on this agent.')),
      },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      entries: Type.Array(
        Type.Object({
          id: Uuid('Entry ID.'),
          at: Timestamp('When it was begun.'),
          action: Type.String({ description: 'The operation, by its name in this document.' }),
          keyId: TextOrNull('The API key; null for what was done where the data lies, without one.'),
          agentId: TextOrNull('The agent.'),
          target: TextOrNull(
            'The id of what it was done to; of an end user `sha256:` and the SHA-256 of `AGENT/USER`, which can be found again by who knows the id.',
          ),
          requestId: TextOrNull('As in `X-Request-Id` of the answer.'),
          address: TextOrNull('The address that the request came from.'),
          status: Type.Union([Type.Integer(), Type.Null()], {
            description: 'HTTP status of the answer; null where the act was cut off before it.',
          }),
        }),
      ),
      pagination: Pagination,
    }),
  }),
})
