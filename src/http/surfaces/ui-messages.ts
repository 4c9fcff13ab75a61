import type { FastifyInstance } from 'fastify'
import { type Static, Type } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import { invalid } from '../../core/errors.ts'
import { isUuid, namedId } from '../../core/platform/ids.ts'
import type { Limits } from '../../core/ports/limits.ts'
import type { Session } from '../../core/session.ts'
import { getOrCreateSession } from '../../sessions/sessions.ts'
import { findMessageAt, type WholeMessage } from '../../store/tables/messages.ts'
import { findSession } from '../../store/tables/sessions.ts'
import { turnStateOf, waitForEnd } from '../../turns/read-message.ts'
import { regenerate } from '../../turns/regenerate.ts'
import type { TurnInput, TurnObserver } from '../../turns/run-turn.ts'
import { sendMessage } from '../../turns/send-message.ts'
import type { Deps } from '../deps.ts'
import { takeUserRate } from '../route/admit.ts'
import { toShown } from '../route/body.ts'
import { isLonger } from '../route/validation.ts'
import type { EventStreams } from '../turns/event-stream.ts'
import { resumeTurn } from '../turns/resume-turn.ts'
import { serveTurn } from '../turns/serve-turn.ts'
import { SettledPresenter } from '../turns/settled-presenter.ts'
import { type TurnOutcome, toOutcome } from '../turns/turn-outcome.ts'
import { doneOnce } from './once.ts'
import { surfaceRoute } from './surface-route.ts'
import { UI_STREAM, UiMessageFormat } from './ui-message-format.ts'

const MAX_CHAT_ID_CHARS = 255
const ChatId = Type.String({ minLength: 1, maxLength: MAX_CHAT_ID_CHARS })
const User = Type.Object({ externalUserId: Type.Optional(Type.String({ format: 'uuid' })) })

/** Fields that `DefaultChatTransport` sends, and fields that an app may add (`body`). */
const Body = (limits: Limits) =>
  Type.Object({
    id: ChatId,
    messages: Type.Array(
      Type.Object({
        id: Type.Optional(Type.String()),
        role: Type.String(),
        parts: Type.Array(Type.Object({ type: Type.String(), text: Type.Optional(Type.String()) })),
      }),
      { minItems: 1 },
    ),
    trigger: Type.Optional(Type.Enum(['submit-message', 'regenerate-message'])),
    messageId: Type.Optional(Type.String()),
    ...User.properties,
    additionalContext: Type.Optional(Type.String({ maxLength: limits.maxContextChars })),
    cancelOnDisconnect: Type.Optional(Type.Boolean()),
  })
type Body = Static<ReturnType<typeof Body>>

/** Registers the AI SDK's UI message stream (`useChat`, `DefaultChatTransport`). A chat is a session that stores the history: only the last message counts. */
export function uiMessageRoutes(app: FastifyInstance, deps: Deps, streams: EventStreams): void {
  const chat = { method: 'POST', url: '/agents/:agentId/chat', scopes: ['chat'], body: Body(deps.limits) } as const
  surfaceRoute(app, deps, { ...chat, scopes: ['chat'] }, async ({ body, key, agent, request, reply }) => {
    const asked = readLast(deps, body)
    const userId = key.userId ?? body.externalUserId?.toLowerCase()
    const found = await findChat(deps, agent!, body.id, userId)
    // No session is created for a refused message.
    await takeUserRate(deps, reply, found ?? { agentId: agent!.id, userId: userId ?? sessionIdOf(agent!.id, userId, body.id) })
    const session = found ?? (await makeChat(deps, agent!, body.id, userId))
    const input = {
      agent: agent!,
      sessionId: session.id,
      additionalContext: body.additionalContext,
      include: [],
      userId: session.userId,
      key,
    }
    const isSent = body.trigger !== 'regenerate-message'
    const run = async (observer: TurnObserver) => {
      if (!isSent) return regenerateLast(deps, input, session, asked.text, observer)
      const refuse = async (now: Session) => {
        if (body.messageId !== undefined) await refuseEdit(deps, now)
      }
      return sendMessage(deps, { ...input, session, message: asked.text, format: 'markdown', refuse }, observer)
    }
    // A message that is sent again is the same one.
    const named = isSent && asked.id ? { key: `ui-message ${session.id} ${asked.id} ${asked.text}` } : {}
    const same = { agentId: agent!.id, sessionId: session.id, parts: () => [asked.text], ...named }
    await serveTurn<TurnOutcome>(deps, streams, {
      ...{ request, reply, key, run },
      presenter: new SettledPresenter(new UiMessageFormat(), key, UI_STREAM),
      once: doneOnce(deps, request, reply, same),
      toAnswer: (exchange) => toOutcome(agent!.id, exchange),
      ownerOf: () => ({ sessionId: session.id }),
      stopsWithCaller: body.cancelOnDisconnect === true,
    })
    return undefined
  })

  const resume = { method: 'GET', url: '/agents/:agentId/chat/:chatId/stream', query: User } as const
  surfaceRoute(app, deps, { ...resume, scopes: ['chat', 'read'] }, async ({ params, query, key, agent, request, reply }) => {
    const userId = key.userId ?? query.externalUserId?.toLowerCase()
    const session = await findChat(deps, agent!, params['chatId']!, userId)
    const question = session && (await findRunning(deps, session))
    if (question === undefined) {
      reply.code(204).send()
      return undefined
    }
    await resumeTurn<TurnOutcome>(deps, streams, {
      ...{ session: session!, question, request, reply, key },
      presenter: new SettledPresenter(new UiMessageFormat(), key, UI_STREAM),
      toAnswer: (exchange) => toOutcome(agent!.id, exchange),
    })
    return undefined
  })
}

/** Returns the text that the user wrote. */
function readLast({ limits }: Deps, { messages }: Body): { id: string | undefined; text: string } {
  const i = messages.length - 1
  const { id, role, parts } = messages[i]!
  const path = `body.messages[${i}]`
  if (role !== 'user') throw invalid(path, 'must be a message of the user: the last one is answered')
  const other = parts.findIndex(({ type }) => type !== 'text' && !type.startsWith('data-'))
  if (other !== -1)
    throw invalid(`${path}.parts[${other}].type`, `${toShown(parts[other]!.type)} is not supported: agents read text`)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('\n')
  if (text.trim() === '') throw invalid(path, 'must not be blank')
  if (isLonger(text, limits.maxMessageChars)) throw invalid(path, `is too long: it may have ${limits.maxMessageChars} characters`)
  return { id, text }
}

/** Derives the id of a session from the chat's, so that the same chat of the same user finds it again. */
const sessionIdOf = (agentId: string, userId: string | undefined, chatId: string): string =>
  namedId(agentId, `${userId ?? ''}/${chatId}`)

/**
 * Finds the session of a chat: the one with this id if it belongs to the user, else the one that was created for the chat. A page chooses the id of its chat,
 * and must not reach another user's session with it. This also applies if a server names the user and forwards the id.
 */
async function findChat(
  { db }: Deps,
  { id: agentId }: Agent,
  chatId: string,
  userId: string | undefined,
): Promise<Session | undefined> {
  const named = isUuid(chatId) ? await findSession(db, agentId, chatId.toLowerCase()) : undefined
  if (named !== undefined && (userId ?? named.userId) === named.userId) return named
  return findSession(db, agentId, sessionIdOf(agentId, userId, chatId))
}

function makeChat(deps: Deps, agent: Agent, chatId: string, userId: string | undefined): Promise<Session> {
  const id = sessionIdOf(agent.id, userId, chatId)
  return getOrCreateSession(deps, agent.id, id, { externalUserId: userId })
}

const lastOf = ({ db }: Deps, { agentId, id, totalMessages }: Session) => findMessageAt(db, agentId, id, totalMessages)

/** Returns the message whose reply is being generated or regenerated. */
async function findRunning(deps: Deps, session: Session): Promise<WholeMessage | undefined> {
  const last = await lastOf(deps, session)
  if (last === undefined || (await turnStateOf(deps, session, last)) !== 'running') return undefined
  return last.role === 'USER' ? last : findMessageAt(deps.db, session.agentId, session.id, last.seq - 1)
}

/** Throws `invalid_request` if the last message was answered: the history is append-only. */
async function refuseEdit(deps: Deps, session: Session): Promise<void> {
  if ((await lastOf(deps, session))?.role === 'AI')
    throw invalid(
      'body.messageId',
      'names a message that was answered: what was said stays. Send another one, or begin a new chat',
    )
}

/** Regenerates the session's last reply. A message without a reply is answered now. */
async function regenerateLast(deps: Deps, input: TurnInput, session: Session, text: string, observer: TurnObserver) {
  const running = await findRunning(deps, session)
  if (running !== undefined) {
    await deps.turns.find(running.id)?.finished
    await waitForEnd(deps, session, running.id, () => true)
  }
  const now = (await findSession(deps.db, session.agentId, session.id)) ?? session
  const last = await lastOf(deps, now)
  if (last?.role !== 'AI') return sendMessage(deps, { ...input, session: now, message: text, format: 'markdown' }, observer)
  const question = await findMessageAt(deps.db, now.agentId, now.id, last.seq - 1)
  if (question?.content !== text)
    throw invalid('body.messages', "must end with the session's last message: only its reply can be made anew")
  return regenerate(deps, { ...input, session: now, messageId: last.id, format: 'markdown' }, observer)
}
