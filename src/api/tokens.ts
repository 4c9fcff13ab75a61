import { MAX_TOKEN_SECONDS } from '../core/api-key.ts'
import { AgentPath, closed, Nothing, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

export const tokenOperations = () => ({
  createToken: operation({
    id: 'createToken',
    method: 'POST',
    path: '/agents/{agentId}/tokens',
    tag: 'Keys',
    summary: 'Make a token for a browser',
    description:
      'Whoever holds the token may act as this one user of this one agent, from the origins that the deployment allows: make, list, read, rename and delete sessions, and send messages. It is sent as `Authorization: Bearer`, and ends when its time is over or its API key ends.',
    scopes: ['chat'],
    params: AgentPath,
    query: Nothing,
    body: Type.Object(
      {
        externalUserId: Uuid("The client's own identifier of its user."),
        ttlSeconds: Type.Optional(
          Type.Integer({ minimum: 1, maximum: MAX_TOKEN_SECONDS, default: 3_600, description: 'How long it is good.' }),
        ),
      },
      closed,
    ),
    keepsNoAnswer: true,
    status: 201,
    response: Type.Object({
      success: Success,
      token: Type.String({ description: 'The token. It is shown in this answer alone.' }),
      expiresAt: Timestamp('When it stops working.'),
    }),
  }),
})
