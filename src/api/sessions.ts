import { type Limits, MAX_IMPORTED_MESSAGES } from '../core/ports/limits.ts'
import {
  AgentPath,
  closed,
  FilledText,
  LimitOfWholeList,
  Nothing,
  Pagination,
  SessionPath,
  Success,
  Timestamp,
  Uuid,
} from './fields.ts'
import { Role } from './messages.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const id = Uuid('Session ID.')
const name = Type.String({ description: 'Session name.' })
const createdAt = Timestamp('When the session was created.')

const ListedSession = Type.Object({
  id,
  name,
  userSessionId: Uuid('The external user.'),
  totalMessages: Type.Integer({ description: 'Messages in the session.' }),
  lastMessageAt: Timestamp('Time of the last message; of the creation while there is none.'),
  timeAgo: Type.String({ description: 'Relative time of the last activity, in English.', examples: ['5 minutes ago'] }),
  createdAt,
})
const CreatedSession = Type.Object({ id, name, userSessionId: Uuid('The external user.'), createdAt })

/** The operations on sessions (specification 4.1 to 4.5), and the import of a conversation. */
export const sessionOperations = (limits: Limits) => {
  const nameField = FilledText(limits.maxNameChars, 'Session name.')
  const externalUserId = Uuid("The client's own identifier of its user.")
  return {
    createSession: operation({
      id: 'createSession',
      forUsers: true,
      method: 'POST',
      path: '/agents/{agentId}/sessions',
      tag: 'Sessions',
      summary: 'Create a session',
      scopes: ['chat'],
      params: AgentPath,
      query: Nothing,
      body: Type.Object({ name: Type.Optional(nameField), externalUserId: Type.Optional(externalUserId) }, closed),
      status: 201,
      response: Type.Object({ success: Success, session: CreatedSession }),
    }),
    listSessions: operation({
      id: 'listSessions',
      forUsers: true,
      method: 'GET',
      path: '/agents/{agentId}/sessions',
      tag: 'Sessions',
      summary: 'List the sessions of an agent, last activity first',
      description:
        'Without `limit` and `cursor`, the response streams the whole list. With either of them, it is one page and has `pagination`.',
      scopes: ['chat', 'read'],
      params: AgentPath,
      query: Type.Object(
        {
          externalUserId: Type.Optional(Uuid('Only the sessions of this external user.')),
          from: Type.Optional(Timestamp('Only sessions last active at this time or later.')),
          to: Type.Optional(Timestamp('Only sessions last active before this time.')),
          q: Type.Optional(
            FilledText(
              limits.maxNameChars,
              'Only sessions whose name or messages contain each of these words (at most 8), also as a part of another word; case is ignored.',
            ),
          ),
          limit: Type.Optional(LimitOfWholeList),
          cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: '`nextCursor` of the page before.' })),
        },
        closed,
      ),
      status: 200,
      response: Type.Object({ success: Success, sessions: Type.Array(ListedSession), pagination: Type.Optional(Pagination) }),
    }),
    getSession: operation({
      id: 'getSession',
      forUsers: true,
      method: 'GET',
      path: '/agents/{agentId}/sessions/{sessionId}',
      tag: 'Sessions',
      summary: 'Read a session with its whole history',
      scopes: ['chat', 'read'],
      params: SessionPath,
      query: Nothing,
      status: 200,
      response: Type.Object({
        success: Success,
        session: Type.Object({ id, name, createdAt }),
        messages: Type.Array(
          Type.Object({
            id: Uuid('Message ID.'),
            role: Role,
            content: Type.String(),
            createdAt: Timestamp('When it was written.'),
          }),
        ),
      }),
    }),
    updateSession: operation({
      id: 'updateSession',
      forUsers: true,
      method: 'PATCH',
      path: '/agents/{agentId}/sessions/{sessionId}',
      tag: 'Sessions',
      summary: 'Rename a session',
      scopes: ['chat'],
      params: SessionPath,
      query: Nothing,
      body: Type.Object({ name: nameField }, closed),
      status: 200,
      response: Type.Object({
        success: Success,
        session: Type.Object({ id, name, updatedAt: Timestamp('Time of the update.') }),
      }),
    }),
    deleteSession: operation({
      id: 'deleteSession',
      forUsers: true,
      method: 'DELETE',
      path: '/agents/{agentId}/sessions/{sessionId}',
      tag: 'Sessions',
      summary: 'Delete a session and all its messages, for good',
      scopes: ['chat'],
      params: SessionPath,
      query: Nothing,
      status: 200,
      response: Type.Object({ success: Success, message: Type.String({ description: 'Says that the session was deleted.' }) }),
    }),
    importSession: operation({
      id: 'importSession',
      method: 'POST',
      path: '/agents/{agentId}/sessions/import',
      tag: 'Sessions',
      summary: 'Bring in a conversation held elsewhere',
      scopes: ['chat'],
      params: AgentPath,
      query: Nothing,
      body: Type.Object(
        {
          name: Type.Optional(nameField),
          externalUserId: Type.Optional(externalUserId),
          messages: Type.Array(
            Type.Object(
              {
                role: Role,
                content: FilledText(limits.maxMessageChars, 'Message text.'),
                createdAt: Type.Optional(Timestamp('When it was written; never before the message above it.')),
              },
              closed,
            ),
            { maxItems: MAX_IMPORTED_MESSAGES, description: 'Oldest first.' },
          ),
        },
        closed,
      ),
      status: 201,
      response: Type.Object({ success: Success, session: CreatedSession }),
    }),
  }
}
