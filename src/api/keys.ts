import { scopes } from '../core/api-key.ts'
import type { Limits } from '../core/ports/limits.ts'
import { closed, FilledText, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const TimestampOrNull = (description: string) => Type.Union([Timestamp(description), Type.Null()])
const budget = {
  tokensPerDay: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], { description: 'Tokens in and out of models.' }),
  costPerDay: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], { description: 'US dollars.' }),
}
const Key = Type.Object({
  id: Uuid('Key ID.'),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the key.' }),
  scopes: Type.Array(Type.Enum([...scopes])),
  agentIds: Type.Union([Type.Array(Uuid('An agent.')), Type.Null()], {
    description: 'The agents that the key sees; null for all.',
  }),
  expiresAt: TimestampOrNull('When it stops working.'),
  lastUsedAt: TimestampOrNull('When it was last used, to the minute.'),
  createdAt: Timestamp('When it was made.'),
  budget: Type.Optional(Type.Object(budget, { description: 'What may be spent with it in a day (UTC). Left out: no limit.' })),
})
const Secret = Type.String({ description: 'The key itself. It is shown in this answer alone.' })
const KeyPath = Type.Object({ keyId: Uuid('The key.') }, closed)

export const keyOperations = (limits: Limits) => ({
  createKey: operation({
    id: 'createKey',
    method: 'POST',
    path: '/keys',
    tag: 'Keys',
    summary: 'Make a key',
    isAudited: true,
    scopes: ['admin'],
    params: Nothing,
    query: Nothing,
    body: Type.Object(
      {
        name: FilledText(limits.maxNameChars, 'What the key is for.'),
        scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: scopes.length, uniqueItems: true }),
        agentIds: Type.Optional(
          Type.Array(Uuid('An agent.'), { minItems: 1, maxItems: 1000, description: 'Left out: all agents.' }),
        ),
        expiresAt: Type.Optional(Timestamp('When it stops working; in the future.')),
        budget: Type.Optional(Type.Partial(Type.Object(budget), closed)),
      },
      closed,
    ),
    keepsNoAnswer: true,
    status: 201,
    response: Type.Object({ success: Success, key: Key, secret: Secret }),
  }),
  listKeys: operation({
    id: 'listKeys',
    method: 'GET',
    path: '/keys',
    tag: 'Keys',
    summary: 'List keys, newest first',
    scopes: ['admin'],
    params: Nothing,
    query: Type.Object(
      { cursor: Type.Optional(Uuid('ID of the key after which the page starts.')), limit: Type.Optional(Limit) },
      closed,
    ),
    status: 200,
    response: Type.Object({ success: Success, keys: Type.Array(Key), pagination: Pagination }),
  }),
  getCurrentKey: operation({
    id: 'getCurrentKey',
    method: 'GET',
    path: '/keys/current',
    tag: 'Keys',
    summary: 'Read the key that the request is made with',
    scopes: ['chat', 'read', 'knowledge'],
    params: Nothing,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, key: Key }),
  }),
  deleteKey: operation({
    id: 'deleteKey',
    method: 'DELETE',
    path: '/keys/{keyId}',
    tag: 'Keys',
    summary: 'Revoke a key, at once',
    isAudited: true,
    scopes: ['admin'],
    params: KeyPath,
    query: Nothing,
    status: 200,
    response: Type.Object({ success: Success, message: Type.String() }),
  }),
  rollKey: operation({
    id: 'rollKey',
    method: 'POST',
    path: '/keys/{keyId}/roll',
    tag: 'Keys',
    summary: 'Replace a key by a new one with the same rights',
    description: 'The old key works until the overlap ends.',
    isAudited: true,
    scopes: ['admin'],
    params: KeyPath,
    query: Nothing,
    body: Type.Object(
      { overlapSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 31_536_000, default: 86_400 })) },
      closed,
    ),
    keepsNoAnswer: true,
    status: 200,
    response: Type.Object({ success: Success, key: Key, secret: Secret }),
  }),
})
