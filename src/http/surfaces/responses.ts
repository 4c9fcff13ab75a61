import type { FastifyInstance } from 'fastify'
import { type Static, Type } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { invalid, ReparteeError, sessionNotFound } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { createSession, deleteIfThere, importSession } from '../../sessions/sessions.ts'
import { findLastReply, findMessageAt } from '../../store/tables/messages.ts'
import { findSession } from '../../store/tables/sessions.ts'
import { answerOnce } from '../../turns/answer-once.ts'
import { getMessage } from '../../turns/read-message.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import { sendMessage } from '../../turns/send-message.ts'
import type { Deps } from '../deps.ts'
import { getSessionFor, takeUserRate } from '../route/admit.ts'
import type { StoreAnswer } from '../route/idempotency.ts'
import { storeNothing } from '../route/idempotency.ts'
import { importInTurn } from '../server/import-places.ts'
import { slicingFor } from '../server/slicing.ts'
import type { EventStreams } from '../turns/event-stream.ts'
import { serveTurn } from '../turns/serve-turn.ts'
import { SettledPresenter } from '../turns/settled-presenter.ts'
import { readAnswer, readOutcome, type TurnOutcome, toOutcome, visibleOutcome } from '../turns/turn-outcome.ts'
import { doneOnce } from './once.ts'
import { unsupported } from './openai-errors.ts'
import * as fields from './openai-fields.ts'
import { readConversationId, readResponseId, readSessionId } from './openai-ids.ts'
import { ResponseFormat, type ResponseRequest, toDoneResponse } from './response-object.ts'
import { surfaceRoute } from './surface-route.ts'

/** Fields that are not named here are ignored: clients send many that are settings of the agent. */
const Body = Type.Object({
  model: Type.String({ minLength: 1 }),
  input: Type.Union([Type.String(), Type.Array(fields.GivenMessage, { minItems: 1 })]),
  instructions: Type.Optional(Type.String()),
  conversation: Type.Optional(Type.Union([Type.String(), Type.Object({ id: Type.String() })])),
  previous_response_id: Type.Optional(Type.String()),
  store: Type.Optional(Type.Boolean()),
  stream: Type.Optional(Type.Boolean()),
  background: Type.Optional(Type.Boolean()),
  user: Type.Optional(Type.String()),
  safety_identifier: Type.Optional(Type.String()),
  metadata: Type.Optional(fields.Metadata),
  max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
  text: Type.Optional(Type.Object({ format: fields.Format })),
  prompt: Type.Optional(Type.Unknown()),
  ...fields.Unsupported,
})
type Body = Static<typeof Body>

/** A response is a reply in a session, its conversation: a named one, the one of the previous response, or a new one. */
export function responseRoutes(app: FastifyInstance, deps: Deps, streams: EventStreams): void {
  surfaceRoute(app, deps, { method: 'POST', url: '/responses', scopes: ['chat'], body: Body }, async (call) => {
    const { body, key, request, reply } = call
    const agent = await fields.getModel(deps, key, body.model)
    app.refuseTooMuch(agent.id, key)
    refuseUnsupported(body)
    const messages = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input
    const { history, message, additionalContext } = fields.readConversation(deps, messages, 'body.input', body.instructions)
    const known = await findSessionOf(deps, key, agent, body)
    if (known !== undefined && history.length > 0)
      throw invalid('body.input', 'must hold one message: those before it stand in the conversation already')
    for (const { content } of body.store === false ? [] : history)
      fields.checkLength('body.input', 'a message', content, deps.limits.maxMessageChars)
    const named = fields.userIdOf(key, body.safety_identifier ?? body.user)
    const userId = known?.userId ?? named ?? deps.newId()
    // A user id that was made up for one response is never used again, so it needs no rate limit.
    const brought = key.userId === undefined || body.store === false ? 0 : history.length
    if (known !== undefined || named !== undefined) await takeUserRate(deps, reply, { agentId: agent.id, userId }, 1 + brought)

    const isStored = body.store !== false
    if (isStored && known === undefined) fields.checkImport(key, history, 'body.input')
    const asked = {
      agent: fields.withAtMost(fields.withoutFollowUps(agent), body.max_output_tokens),
      additionalContext,
      message,
      include: [],
      userId,
      key,
    }
    const run = async (observer: TurnObserver, keep: StoreAnswer) => {
      if (!isStored) return answerOnce(deps, { ...asked, history }, observer)
      const make = () => makeSession(deps, agent, userId, history, keep)
      const session =
        known ??
        (await findBegun(deps, agent, history, keep)) ??
        (await importInTurn({ request, reply, agentId: agent.id }, history.length, make))
      try {
        const refuse = (now: Session) => refuseBranch(deps, now, body.previous_response_id)
        return await sendMessage(deps, { ...asked, sessionId: session.id, session, format: 'markdown', refuse }, observer)
      } catch (error) {
        // The caller does not know the new session.
        if (known === undefined) await deleteIfThere(deps, session)
        throw error
      }
    }
    const told: ResponseRequest = {
      model: body.model,
      instructions: body.instructions ?? null,
      previousResponseId: body.previous_response_id ?? null,
      maxOutputTokens: body.max_output_tokens ?? null,
      metadata: body.metadata ?? {},
      isStored,
    }
    // If the user is unknown, the same request may come from another user, who must not get this conversation.
    const isOfOne = known !== undefined || named !== undefined
    const same = {
      agentId: agent.id,
      sessionId: known?.id ?? '',
      userId: isStored ? undefined : userId,
      parts: () => [JSON.stringify(body)],
      isOfOne,
    }
    const hasEffect = isStored || request.headers['idempotency-key'] !== undefined
    const answer = await serveTurn<TurnOutcome>(deps, streams, {
      ...{ request, reply, key, run },
      presenter: body.stream ? new SettledPresenter(new ResponseFormat(told, deps.clock), key) : undefined,
      once: hasEffect ? doneOnce(deps, request, reply, same) : (work) => work(storeNothing),
      toAnswer: (exchange) => toOutcome(agent.id, exchange),
      ownerOf: ({ session }) => (isStored ? { sessionId: session.id } : { sessionId: '', userId }),
      stopsWithCaller: !hasEffect,
    })
    return answer && toDoneResponse(readAnswer(answer, reply, key), told, deps.clock())
  })

  const query = Type.Object({ stream: Type.Optional(Type.String()) })
  const get = { method: 'GET', url: '/responses/:responseId', query } as const
  surfaceRoute(app, deps, { ...get, scopes: ['chat', 'read'] }, async ({ params, query, key, request }) => {
    if (query.stream === 'true') throw unsupported('query.stream', 'is not supported: a response is read when it is done.')
    const place = readResponseId(params['responseId']!)
    if (place === undefined) throw responseNotFound()
    const session = await getSessionAt(deps, key, place).catch(asResponseNotFound)
    const message = await getMessage(deps, session, place.replyId, slicingFor(request, key)).catch(asResponseNotFound)
    if (message.role !== 'AI') throw responseNotFound()
    const outcome = visibleOutcome(key, await readOutcome(deps, key, session, message))
    const told = { instructions: null, previousResponseId: null, maxOutputTokens: null, metadata: {}, isStored: true }
    return toDoneResponse(outcome, { ...told, model: place.agentId }, message.createdAt)
  })
}

/** Throws `session_not_found`. */
export async function getSessionAt(deps: Deps, key: ApiKey, { agentId, sessionId }: { agentId: string; sessionId: string }) {
  if (key.agentIds?.includes(agentId) === false) throw sessionNotFound()
  // The sessions of a deleted agent are deleted in slices, so some may still exist.
  await deps.agents.get(agentId).catch(asSessionNotFound)
  return getSessionFor(deps, key, agentId, sessionId)
}

function asSessionNotFound(error: unknown): never {
  throw error instanceof ReparteeError && error.code === 'agent_not_found' ? sessionNotFound() : error
}

const responseNotFound = () => new ReparteeError('message_not_found', 'There is no such response.')

/** Callers of this surface name a response and do not know its session or message. */
function asResponseNotFound(error: unknown): never {
  const isMissing = error instanceof ReparteeError && (error.code === 'session_not_found' || error.code === 'message_not_found')
  throw isMissing ? responseNotFound() : error
}

function refuseUnsupported(body: Body): void {
  fields.refuseUnsupported(body)
  fields.refuseFormat('body.text.format.type', body.text?.format?.type)
  if (body.background) throw unsupported('body.background', 'is not supported.')
  if (body.prompt !== undefined) throw unsupported('body.prompt', 'is not supported: an agent has its own instructions.')
  if (body.conversation !== undefined && body.previous_response_id !== undefined)
    throw invalid('body.previous_response_id', 'must not be given beside conversation')
  if (body.store === false && (body.conversation ?? body.previous_response_id) !== undefined)
    throw unsupported('body.store', 'must not be false where a conversation goes on: its messages are kept.')
}

function makeSession(
  deps: Deps,
  { id }: Agent,
  externalUserId: string,
  history: fields.Conversation['history'],
  keep: StoreAnswer,
): Promise<Session> {
  const alongside = (made: Session) => keep.noteSession(made.id)
  return history.length === 0
    ? createSession(deps, id, { externalUserId }, alongside)
    : importSession(deps, id, { externalUserId }, history, alongside)
}

/** Finds the session that an earlier attempt created for the same request, if it has no other messages. */
async function findBegun(
  { db }: Deps,
  { id }: Agent,
  history: fields.Conversation['history'],
  { begunSessionId }: StoreAnswer,
): Promise<Session | undefined> {
  const begun = begunSessionId === '' ? undefined : await findSession(db, id, begunSessionId)
  return begun !== undefined && begun.totalMessages <= history.length + 1 ? begun : undefined
}

/** Returns the session that the request names; undefined if it names none. */
async function findSessionOf(deps: Deps, key: ApiKey, { id: agentId }: Agent, body: Body): Promise<Session | undefined> {
  const { conversation, previous_response_id: previous } = body
  if (conversation !== undefined) {
    const name = typeof conversation === 'string' ? conversation : conversation.id
    const place = readConversationId(name)
    const sessionId = place === undefined ? readSessionId(name) : place.sessionId
    if (sessionId === undefined || (place !== undefined && place.agentId !== agentId)) throw sessionNotFound()
    return getSessionFor(deps, key, agentId, sessionId)
  }
  if (previous === undefined) return undefined
  const place = readResponseId(previous)
  if (place === undefined || place.agentId !== agentId) throw responseNotFound()
  return getSessionFor(deps, key, agentId, place.sessionId).catch(asResponseNotFound)
}

/** Throws `invalid_request` if messages follow the previous response. */
async function refuseBranch({ db }: Deps, { agentId, id, totalMessages }: Session, previous: string | undefined): Promise<void> {
  if (previous === undefined) return
  const last = await findMessageAt(db, agentId, id, totalMessages)
  // A message that failed has no response.
  const newest = last?.turn === 'failed' ? await findLastReply(db, agentId, id) : last?.id
  if (newest !== readResponseId(previous)?.replyId)
    throw unsupported(
      'body.previous_response_id',
      'must be the newest response of its conversation: conversations do not branch.',
    )
}
