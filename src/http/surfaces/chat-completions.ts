import type { FastifyInstance } from 'fastify'
import { type Static, Type } from '../../api/schema.ts'
import { type ReparteeError, sessionNotFound } from '../../core/errors.ts'
import { isUuid } from '../../core/platform/ids.ts'
import { answerOnce } from '../../turns/answer-once.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import { sendMessage } from '../../turns/send-message.ts'
import type { Deps } from '../deps.ts'
import { getSessionFor, takeUserRate } from '../route/admit.ts'
import { storeNothing } from '../route/idempotency.ts'
import { type EventStreams, withItems } from '../turns/event-stream.ts'
import { serveTurn } from '../turns/serve-turn.ts'
import { type EventFormat, SettledPresenter } from '../turns/settled-presenter.ts'
import { type BegunTurn, readAnswer, type TurnOutcome, toOutcome } from '../turns/turn-outcome.ts'
import { citationsIn } from './citations.ts'
import { doneOnce } from './once.ts'
import { toOpenAiError, unsupported } from './openai-errors.ts'
import * as fields from './openai-fields.ts'
import { surfaceRoute } from './surface-route.ts'

const Tokens = Type.Optional(Type.Integer({ minimum: 1 }))
/** Fields that are not named here are ignored: clients send many that are settings of the agent. */
const Body = Type.Object({
  model: Type.String({ minLength: 1 }),
  messages: Type.Array(fields.GivenMessage, { minItems: 1 }),
  stream: Type.Optional(Type.Boolean()),
  stream_options: Type.Optional(Type.Object({ include_usage: Type.Optional(Type.Boolean()) })),
  user: Type.Optional(Type.String()),
  safety_identifier: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Object({ session_id: Type.Optional(Type.String()) })),
  max_tokens: Tokens,
  max_completion_tokens: Tokens,
  n: Type.Optional(Type.Integer()),
  logprobs: Type.Optional(Type.Boolean()),
  modalities: Type.Optional(Type.Array(Type.String())),
  response_format: fields.Format,
  function_call: Type.Optional(Type.Unknown()),
  ...fields.Unsupported,
})
type Body = Static<typeof Body>

/**
 * Without a session, the caller has the conversation, as in the protocol: the reply is made from the sent messages, and nothing is stored. In a session, which
 * `X-Session-Id` or `metadata.session_id` names, the history is stored here, and only the last message is sent into it.
 */
export function chatCompletionRoutes(app: FastifyInstance, deps: Deps, streams: EventStreams): void {
  surfaceRoute(app, deps, { method: 'POST', url: '/chat/completions', scopes: ['chat'], body: Body }, async (call) => {
    const { body, key, request, reply } = call
    const agent = await fields.getModel(deps, key, body.model)
    app.refuseTooMuch(agent.id, key)
    refuseUnsupported(body)
    const given = fields.readConversation(deps, body.messages, 'body.messages')
    const session = await findSessionOf(call.request.headers['x-session-id'], body)
    const named = fields.userIdOf(key, body.safety_identifier ?? body.user)
    const userId = session?.userId ?? named ?? deps.newId()
    if (session !== undefined || named !== undefined) await takeUserRate(deps, reply, { agentId: agent.id, userId })

    const asked = {
      agent: fields.withAtMost(fields.withoutFollowUps(agent), body.max_completion_tokens ?? body.max_tokens),
      additionalContext: given.additionalContext,
      message: given.message,
      include: [],
      userId,
      key,
    }
    const run = (observer: TurnObserver) =>
      session === undefined
        ? answerOnce(deps, { ...asked, history: given.history }, observer)
        : sendMessage(deps, { ...asked, sessionId: session.id, session, format: 'markdown' }, observer)
    const format = new ChunkFormat(body.model, body.stream_options?.include_usage === true)
    const owner = session === undefined ? { sessionId: '', userId } : { sessionId: session.id }
    const same = { agentId: agent.id, ...owner, parts: () => [JSON.stringify(body)] }
    const hasEffect = session !== undefined || request.headers['idempotency-key'] !== undefined
    const answer = await serveTurn<TurnOutcome>(deps, streams, {
      ...{ request, reply, key, run },
      presenter: body.stream ? new SettledPresenter(format, key) : undefined,
      once: hasEffect ? doneOnce(deps, request, reply, same) : (work) => work(storeNothing),
      toAnswer: (exchange) => toOutcome(agent.id, exchange),
      ownerOf: () => owner,
      stopsWithCaller: !hasEffect,
    })
    return answer && toCompletion(readAnswer(answer, reply, key), body.model)

    async function findSessionOf(header: string | string[] | undefined, { metadata }: Body) {
      const id = header ?? metadata?.session_id
      if (id === undefined) return undefined
      if (typeof id !== 'string' || !isUuid(id)) throw sessionNotFound()
      return getSessionFor(deps, key, agent.id, id.toLowerCase())
    }
  })
}

function refuseUnsupported(body: Body): void {
  fields.refuseUnsupported(body)
  fields.refuseFormat('body.response_format.type', body.response_format?.type)
  if ((body.n ?? 1) !== 1) throw unsupported('body.n', 'must be 1: an agent gives one answer.')
  if (body.logprobs) throw unsupported('body.logprobs', 'is not supported.')
  if (body.modalities?.some((m) => m !== 'text')) throw unsupported('body.modalities', 'may only be text.')
  if (body.function_call !== undefined && body.function_call !== 'auto' && body.function_call !== 'none')
    throw unsupported('body.function_call', 'is not supported: agents call no functions of yours.')
}

const FINISH = { stop: 'stop', length: 'length', filtered: 'content_filter', cancelled: 'stop' } as const
const idOf = (replyId: string | undefined): string => `chatcmpl-${replyId}`

function toUsage({ usage }: TurnOutcome) {
  const { tokensIn, tokensOut, tokensCached, total } = fields.tokensOf(usage)
  return {
    prompt_tokens: tokensIn,
    completion_tokens: tokensOut,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: tokensCached },
  }
}

/** Citations of documents with a URL. Chat Completions has no other kind, and strict clients reject the whole reply for one. `sources` contains all of them. */
const toAnnotations = ({ content, sources }: TurnOutcome) =>
  citationsIn(content, sources).flatMap(({ start, end, source: { title, url } }) =>
    url === null ? [] : [{ type: 'url_citation', url_citation: { start_index: start, end_index: end, title, url } }],
  )

function toCompletion(outcome: TurnOutcome, model: string) {
  const { content, sources } = outcome
  const message = { role: 'assistant', content, refusal: null, annotations: toAnnotations(outcome), sources }
  return {
    id: idOf(outcome.replyId),
    object: 'chat.completion',
    created: fields.toSeconds(outcome.createdAt),
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[outcome.finish] }],
    usage: toUsage(outcome),
  }
}

const data = (value: object | string): string => `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`

/** Formats a reply as chunks. Sources come with the last text. */
class ChunkFormat implements EventFormat {
  readonly #model: string
  readonly #withUsage: boolean
  #head: object = {}

  constructor(model: string, withUsage: boolean) {
    this.#model = model
    this.#withUsage = withUsage
  }

  started({ replyId, createdAt }: BegunTurn): string {
    const created = fields.toSeconds(createdAt)
    this.#head = { id: idOf(replyId), object: 'chat.completion.chunk', created, model: this.#model }
    return this.#chunk({ role: 'assistant', content: '' })
  }

  delta(content: string): string {
    return this.#chunk({ content })
  }

  *completed(outcome: TurnOutcome, rest: string | undefined): Generator<string> {
    const sources = rest === undefined ? [] : outcome.sources
    if (rest) yield this.delta(rest)
    if (sources.length > 0) yield* withItems(this.#chunk({ annotations: [], sources }), 'annotations', toAnnotations(outcome))
    yield this.#chunk({}, FINISH[outcome.finish])
    if (this.#withUsage) yield data({ ...this.#head, choices: [], usage: toUsage(outcome) })
    yield data('[DONE]')
  }

  failed = (error: ReparteeError): string => data({ error: toOpenAiError(error) })

  #chunk(delta: object, finish: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    return data({ ...this.#head, choices, ...(this.#withUsage ? { usage: null } : {}) })
  }
}
