import type { FastifyInstance } from 'fastify'
import { Type } from '../../api/schema.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { invalid, sessionNotFound } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { createSession, deleteSession, importSession } from '../../sessions/sessions.ts'
import type { Statement } from '../../store/database.ts'
import { findSeq, type ListedMessage, listMessagesAfter } from '../../store/tables/messages.ts'
import type { Slicing } from '../../store/tables/sessions.ts'
import { getMessage } from '../../turns/read-message.ts'
import type { Deps } from '../deps.ts'
import { answerList } from '../json/list-answer.ts'
import { takeTokenRate } from '../route/admit.ts'
import { isStored, sendStored } from '../route/idempotency.ts'
import { importInTurn } from '../server/import-places.ts'
import { slicingFor } from '../server/slicing.ts'
import { readOutcome } from '../turns/turn-outcome.ts'
import { doneOnce } from './once.ts'
import { unsupported } from './openai-errors.ts'
import * as fields from './openai-fields.ts'
import { readConversationId, readItemId, toConversationId, toItemId } from './openai-ids.ts'
import { toOutputItem } from './response-object.ts'
import { getSessionAt } from './responses.ts'
import { surfaceRoute } from './surface-route.ts'

const Body = Type.Object({
  items: Type.Optional(Type.Array(fields.GivenMessage)),
  metadata: Type.Optional(
    Type.Object({
      agent_id: Type.Optional(Type.String()),
      user: Type.Optional(Type.String()),
      name: Type.Optional(Type.String()),
    }),
  ),
})
const Items = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  order: Type.Optional(Type.Enum(['asc', 'desc'])),
  after: Type.Optional(Type.String()),
})
const USUAL_ITEMS = 20

/** `metadata` contains the fields of a session that the protocol does not have. */
const toConversation = (session: Session) => ({
  id: toConversationId({ agentId: session.agentId, sessionId: session.id }),
  object: 'conversation',
  created_at: fields.toSeconds(session.createdAt),
  metadata: { agent_id: session.agentId, session_id: session.id, name: session.name },
})

/** A conversation is a session. */
export function conversationRoutes(app: FastifyInstance, deps: Deps): void {
  surfaceRoute(
    app,
    deps,
    { method: 'POST', url: '/conversations', scopes: ['chat'], body: Body },
    async ({ body, key, request, reply }) => {
      const { items = [], metadata = {} } = body
      const agent = await fields.getModel(deps, key, agentOf(key, metadata.agent_id))
      const { context, history } = fields.readMessages(items, 'body.items')
      if (context.length > 0)
        throw unsupported(
          'body.items',
          'may hold messages of the user and the assistant alone: give instructions with each response.',
        )
      for (const { content } of history) fields.checkLength('body.items', 'a message', content, deps.limits.maxMessageChars)
      fields.checkImport(key, history, 'body.items')
      const { name } = metadata
      if (name !== undefined) fields.checkLength('body.metadata.name', 'a name', name, deps.limits.maxNameChars)
      const made = {
        externalUserId: fields.userIdOf(key, metadata.user),
        ...(name === undefined || name.trim() === '' ? {} : { name }),
      }
      await takeTokenRate(deps, reply, key, agent.id, history.length)
      const makeSession = (alongside: (session: Session) => Statement[]) =>
        history.length === 0
          ? createSession(deps, agent.id, made, alongside)
          : importInTurn({ request, reply, agentId: agent.id }, history.length, () =>
              importSession(deps, agent.id, made, history, alongside),
            )
      // If the user is unknown, the same request may come from another user, who must not get this conversation.
      const isOfOne = made.externalUserId !== undefined
      const same = { agentId: agent.id, sessionId: '', parts: () => [JSON.stringify(body)], isOfOne }
      const once = doneOnce<object>(deps, request, reply, same)
      const answer = await once(async (keep) =>
        toConversation(await makeSession((session) => keep(toConversation(session), session.id))),
      )
      if (!isStored(answer)) return answer
      sendStored(reply, answer)
      return undefined
    },
  )

  const one = '/conversations/:conversationId'
  const get = async (key: ApiKey, id: string): Promise<Session> => {
    const place = readConversationId(id)
    if (place === undefined) throw sessionNotFound()
    return getSessionAt(deps, key, place)
  }
  surfaceRoute(app, deps, { method: 'GET', url: one, scopes: ['chat', 'read'] }, async ({ key, params }) =>
    toConversation(await get(key, params['conversationId']!)),
  )

  surfaceRoute(app, deps, { method: 'DELETE', url: one, scopes: ['chat'] }, async ({ key, params }) => {
    const session = await get(key, params['conversationId']!)
    await deleteSession(deps, session)
    return { ...toConversation(session), object: 'conversation.deleted', deleted: true }
  })

  const list = { method: 'GET', url: `${one}/items`, query: Items } as const
  surfaceRoute(app, deps, { ...list, scopes: ['chat', 'read'] }, async ({ key, params, query, request, reply }) => {
    const session = await get(key, params['conversationId']!)
    const { listed, hasMore } = await readPage(deps, session, query)
    const [first, last] = [listed[0], listed.at(-1)].map((message) => (message === undefined ? null : toItemId(message.id)))
    const rest = JSON.stringify({ first_id: first, last_id: last, has_more: hasMore })
    const slices = itemSlices(deps, key, session, listed, slicingFor(request, key))
    const list = { head: '{"object":"list","data":[', slices, toItem: (item: object) => item, tail: `],${rest.slice(1)}` }
    return answerList({ request, reply }, list)
  })
}

function agentOf({ agentIds }: ApiKey, named: string | undefined): string {
  const only = agentIds?.length === 1 ? agentIds[0] : undefined
  const id = named ?? only
  if (id === undefined) throw invalid('body.metadata.agent_id', 'must name the agent that the conversation is with')
  return id
}

/** Reads a page of messages, newest first by default, as in the protocol. */
async function readPage(
  { db }: Deps,
  { agentId, id, totalMessages }: Session,
  { limit = USUAL_ITEMS, order = 'desc', after }: { limit?: number; order?: string; after?: string },
): Promise<{ listed: ListedMessage[]; hasMore: boolean }> {
  const messageId = after === undefined ? undefined : readItemId(after)
  const place = messageId === undefined ? undefined : await findSeq(db, agentId, id, messageId)
  if (after !== undefined && place === undefined) throw invalid('query.after', 'is no item of this conversation')
  if (order === 'asc') {
    const found = await listMessagesAfter(db, agentId, id, place ?? 0, limit + 1)
    return { listed: found.slice(0, limit), hasMore: found.length > limit }
  }
  const end = (place ?? totalMessages + 1) - 1
  const start = Math.max(0, end - limit)
  const found = end === 0 ? [] : await listMessagesAfter(db, agentId, id, start, end - start)
  return { listed: found.reverse(), hasMore: start > 0 }
}

/** Yields one message at a time, because each may have 200,000 characters and many citations. */
async function* itemSlices(
  deps: Deps,
  key: ApiKey,
  session: Session,
  listed: readonly ListedMessage[],
  slicing: Slicing,
): AsyncGenerator<object[]> {
  for (const { id } of listed) {
    const message = await getMessage(deps, session, id, slicing)
    yield [message.role === 'AI' ? toOutputItem(await readOutcome(deps, key, session, message)) : toInputItem(message)]
  }
}

const toInputItem = ({ id, content }: Message) => ({
  id: toItemId(id),
  type: 'message',
  status: 'completed',
  role: 'user',
  content: [{ type: 'input_text', text: content }],
})
