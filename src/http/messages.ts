import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import type { ResponseOf } from '../api/operation.ts'
import { type ApiKey, callerIdOf } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Message } from '../core/message.ts'
import { pageLimit } from '../core/ports/limits.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import type { ReplyDetail } from '../reply/trace.ts'
import { messageSlices, SLICE_CHARS } from '../sessions/message-slices.ts'
import {
  findSeq,
  listMessagesAfter,
  listMessagesBefore,
  listVersions,
  type MessageVersion,
  type WholeMessage,
} from '../store/tables/messages.ts'
import { cancelTurn } from '../turns/cancel.ts'
import { getMessage, rate, readDetail, toFeedback, turnStateOf } from '../turns/read-message.ts'
import { regenerate } from '../turns/regenerate.ts'
import { sendMessage } from '../turns/send-message.ts'
import type { Deps } from './deps.ts'
import { answerList } from './json/list-answer.ts'
import { checkInclude } from './route/include.ts'
import { route } from './route/route.ts'
import { slicingFor } from './server/slicing.ts'
import { toMessage } from './turns/answer.ts'
import type { EventStreams } from './turns/event-stream.ts'
import { answerTurn, streamTurn } from './turns/repartee-presenter.ts'

export function messageRoutes(app: FastifyInstance, deps: Deps, contract: Contract, streams: EventStreams): void {
  route(app, deps, contract.sendMessage, (call) => {
    const { message, additionalContext, format = 'markdown', include = [] } = call.body
    checkInclude(call.key, include)
    const input = {
      agent: call.agent,
      sessionId: call.session.id,
      session: call.session,
      userId: call.session.userId,
      key: call.key,
      message,
      additionalContext,
      format,
      include,
    }
    return answerTurn(deps, streams, call, (observer) => sendMessage(deps, input, observer))
  })

  route(app, deps, contract.regenerateMessage, (call) => {
    const { additionalContext, format, include = [] } = call.body
    checkInclude(call.key, include)
    const { messageId } = call.params
    const input = {
      agent: call.agent,
      sessionId: call.session.id,
      session: call.session,
      userId: call.session.userId,
      key: call.key,
      messageId,
      additionalContext,
      format,
      include,
    }
    return answerTurn(deps, streams, call, (observer) => regenerate(deps, input, observer))
  })

  route(app, deps, contract.streamMessage, (call) => streamTurn(deps, streams, call))

  route(app, deps, contract.listMessages, async ({ session, query, request, reply, key }) => {
    const { cursor, limit = pageLimit.default, order } = query
    const { agentId, id: sessionId, totalMessages } = session
    const place = cursor === undefined ? undefined : await findSeq(deps.db, agentId, sessionId, cursor.toLowerCase())
    if (cursor !== undefined && place === undefined) throw invalidCursor()
    const after = place ?? 0
    const found =
      order === 'desc'
        ? await listMessagesBefore(deps.db, agentId, sessionId, place ?? totalMessages + 1, limit + 1)
        : await listMessagesAfter(deps.db, agentId, sessionId, after, limit + 1)
    const listed = found.slice(0, limit)
    const hasMore = found.length > limit
    // The session was read before its messages, so a message may have been appended in between.
    const total = order === 'desc' ? Math.max(totalMessages, after) : Math.max(totalMessages, after + found.length)
    const toItem = ({ id, role, content, createdAt }: Message): Listed => ({
      id,
      role,
      content,
      type: 'TEXT' as const,
      createdAt: toIso(createdAt),
    })
    const pagination = { hasMore, nextCursor: hasMore ? listed.at(-1)!.id : null, total }
    const chars = listed.reduce((sum, { content }) => sum + (content?.length ?? SLICE_CHARS), 0)
    if (chars < SLICE_CHARS) return { messages: (listed as Message[]).map(toItem), pagination }
    const tail = `],"pagination":${JSON.stringify(pagination)}}`
    const slices = messageSlices(deps.db, session, listed, slicingFor(request, key))
    return answerList({ request, reply }, { head: '{"success":true,"messages":[', slices, toItem, tail })
  })

  route(app, deps, contract.getMessage, async ({ session, params, query, key, request }) => {
    const include = query.include?.split(',') ?? []
    checkInclude(key, include)
    const message = await getMessage(deps, session, params.messageId, slicingFor(request, key))
    const detail = await readReplyDetail(key, message)
    return { message: { ...(await toOneMessage(deps, session, message, detail)), ...extrasOf(message, detail, include) } }
  })

  route(app, deps, contract.cancelMessage, async ({ session, params, key }) => {
    const message = await cancelTurn(deps, session, params.messageId)
    return { message: await toOneMessage(deps, session, message, await readReplyDetail(key, message)) }
  })

  route(app, deps, contract.setFeedback, async ({ session, params, body }) => {
    await rate(deps, session, params.messageId, body)
    return { feedback: body }
  })

  route(app, deps, contract.deleteFeedback, async ({ session, params }) => {
    await rate(deps, session, params.messageId, null)
    return { message: 'Nothing is said of the reply any more.' }
  })

  route(app, deps, contract.listVersions, async ({ session, params, request, reply }) => {
    const message = await getMessage(deps, session, params.messageId)
    let madeAt = message.createdAt
    const toVersion = ({ content, model, feedback, replacedAt }: MessageVersion): Version => {
      const createdAt = toIso(madeAt)
      madeAt = replacedAt
      return {
        content,
        model,
        createdAt,
        replacedAt: toIso(replacedAt),
        ...(feedback === null ? {} : { feedback: toFeedback(feedback) }),
      }
    }
    const slices = versionsOf(deps, session, message.id)
    return answerList({ request, reply }, { head: '{"success":true,"versions":[', slices, toItem: toVersion, tail: ']}' })
  })
}

type Version = ResponseOf<Contract['listVersions']>['versions'][number]

async function* versionsOf({ db }: Deps, session: Session, messageId: string): AsyncGenerator<MessageVersion[]> {
  // One at a time, because each may have 200,000 characters.
  for (let after = 0; ; ) {
    const slice = await listVersions(db, session, messageId, after, 1)
    if (slice.length === 0) return
    yield slice
    after = slice[0]!.version
  }
}

type OneMessage = ResponseOf<Contract['getMessage']>['message']

const readReplyDetail = async (key: ApiKey, message: WholeMessage): Promise<ReplyDetail> =>
  message.role === 'AI' ? readDetail(message, callerIdOf(key)) : {}

async function toOneMessage(
  deps: Deps,
  session: Session,
  message: WholeMessage,
  { sources, followUps }: ReplyDetail,
): Promise<OneMessage> {
  return {
    ...toMessage(message),
    type: 'TEXT',
    turn: await turnStateOf(deps, session, message),
    ...(message.role === 'AI' && { format: message.markdown === null ? 'markdown' : 'html' }),
    ...(followUps === undefined ? {} : { followUps }),
    ...(sources === undefined ? {} : { sources }),
    ...(message.feedback === null ? {} : { feedback: toFeedback(message.feedback) }),
  }
}

/** Returns the requested details of how a reply was generated. */
function extrasOf(
  message: WholeMessage,
  { usage, trace }: ReplyDetail,
  include: string[],
): Pick<OneMessage, 'model' | 'usage' | 'trace'> {
  if (message.role !== 'AI') return {}
  return {
    ...(include.includes('model') && message.model !== null ? { model: message.model } : {}),
    ...(include.includes('usage') && usage ? { usage } : {}),
    ...(include.includes('trace') && trace !== undefined ? { trace } : {}),
  }
}

type Listed = ResponseOf<Contract['listMessages']>['messages'][number]

const invalidCursor = () =>
  new ReparteeError('invalid_cursor', 'query.cursor is not a message of this session', {
    details: [{ path: 'query.cursor', message: 'must be the id of a message of this session' }],
  })
