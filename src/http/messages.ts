import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import type { Extra } from '../api/messages.ts'
import type { ResponseOf } from '../api/operation.ts'
import type { Deps } from '../chat/deps.ts'
import { type Exchange, sendMessage } from '../chat/send-message.ts'
import { ReparteeError } from '../core/errors.ts'
import { pageLimit } from '../core/limits.ts'
import type { Message } from '../core/message.ts'
import { toIso } from '../core/time.ts'
import { findPlace, listMessages } from '../store/messages.ts'
import { route } from './route.ts'

const toMessage = ({ id, role, content, createdAt }: Message) => ({
  id,
  role,
  content,
  createdAt: toIso(createdAt),
})

export function messageRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.sendMessage, async ({ agent, session, body }) => {
    const { message, additionalContext, format = 'markdown', include = [] } = body
    const exchange = await sendMessage(deps, { agent, sessionId: session.id, message, additionalContext, format })
    return toAnswer(exchange, new Set(include))
  })

  route(app, deps, contract.listMessages, async ({ session, query }) => {
    const { cursor, limit = pageLimit.default } = query
    const after = cursor === undefined ? 0 : await findPlace(deps.db, session.agentId, session.id, cursor.toLowerCase())
    if (after === undefined) throw invalidCursor()
    const found = await listMessages(deps.db, session.agentId, session.id, after, limit + 1)
    const messages = found.slice(0, limit)
    const hasMore = found.length > limit
    // The session was read before its messages: one may have been appended in between.
    const total = Math.max(session.totalMessages, after + found.length)
    return {
      messages: messages.map(({ id, role, content, createdAt }) => ({
        id,
        role,
        content,
        type: 'TEXT' as const,
        createdAt: toIso(createdAt),
      })),
      pagination: { hasMore, nextCursor: hasMore ? messages.at(-1)!.id : null, total },
    }
  })
}

/** The fields of specification 4.6, and of the extras those that were asked for. */
function toAnswer(e: Exchange, include: Set<Extra>): Omit<ResponseOf<Contract['sendMessage']>, 'success'> {
  const { retrieval, grounding } = e
  return {
    chatSession: { id: e.session.id, name: e.session.name },
    userMessage: toMessage(e.userMessage),
    aiMessage: { ...toMessage(e.aiMessage), model: e.aiMessage.model },
    ...(e.followUps === undefined ? {} : { followUps: e.followUps }),
    ...(include.has('sources') ? { sources: e.sources } : {}),
    ...(include.has('usage') ? { usage: { ...(e.usage ?? { tokensIn: 0, tokensOut: 0, tokensCached: 0 }), cost: null } } : {}),
    ...(include.has('trace')
      ? {
          trace: {
            grounding,
            query: retrieval.query,
            passages: retrieval.hits.map(({ documentId, passageId, title, score, scores }) => ({
              documentId,
              passageId,
              title,
              score,
              scores,
            })),
            timings: e.timings,
          },
        }
      : {}),
  }
}

const invalidCursor = () =>
  new ReparteeError('invalid_cursor', 'query.cursor is not a message of this session', {
    details: [{ path: 'query.cursor', message: 'must be the id of a message of this session' }],
  })
