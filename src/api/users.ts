import { AgentPath, closed, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const count = Type.Integer({ minimum: 0 })
const UserPath = Type.Object(
  { agentId: Uuid('The agent.'), externalUserId: Uuid("The client's own identifier of its user.") },
  closed,
)

export const userOperations = () => ({
  listUsers: operation({
    id: 'listUsers',
    method: 'GET',
    path: '/agents/{agentId}/users',
    tag: 'Users',
    summary: 'List the end users of an agent, by their ids',
    scopes: ['admin'],
    params: AgentPath,
    query: Type.Object(
      { cursor: Type.Optional(Uuid('ID of the user after which the page starts.')), limit: Type.Optional(Limit) },
      closed,
    ),
    status: 200,
    response: Type.Object({
      success: Success,
      users: Type.Array(
        Type.Object({
          externalUserId: Uuid("The client's own identifier of its user."),
          sessions: count,
          messages: count,
          lastMessageAt: Timestamp('Of the last message in any session.'),
        }),
      ),
      pagination: Pagination,
    }),
  }),
  exportUser: operation({
    id: 'exportUser',
    method: 'GET',
    path: '/agents/{agentId}/users/{externalUserId}/export',
    tag: 'Users',
    summary: 'All that is kept of an end user',
    description:
      'JSON Lines (`application/x-ndjson`): for each session a line of `type` `session`, and behind it its lines of `message`, `version` (what a reply was before it was made anew) and `summary`.',
    isAudited: true,
    scopes: ['admin'],
    params: UserPath,
    query: Nothing,
    lines: true,
    status: 200,
    response: Type.Object({ type: Type.Enum(['session', 'message', 'version', 'summary']) }),
  }),
  eraseUser: operation({
    id: 'eraseUser',
    method: 'DELETE',
    path: '/agents/{agentId}/users/{externalUserId}',
    tag: 'Users',
    summary: 'Erase all that is kept of an end user',
    description:
      'Every session of the user goes, with all that was said there, at once and for good. Turns that run there are stopped.',
    isAudited: true,
    scopes: ['admin'],
    params: UserPath,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: Type.String(), sessions: count }),
  }),
})
