import type { Agent } from '../core/agent.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Message, ReplyFormat } from '../core/message.ts'
import type { ModelReply, ModelRequest, ModelUsage } from '../core/model.ts'
import type { Retrieval, Suggestion } from '../core/retrieval.ts'
import type { Session } from '../core/session.ts'
import { DONT_KNOW } from '../models/dont-know.ts'
import { renderHtml } from '../render/render.ts'
import { beginTurn, completeTurn, listRecent, moveTurn, type RecentMessage } from '../store/messages.ts'
import { findSession } from '../store/sessions.ts'
import { cite, type Source } from './cite.ts'
import type { Deps } from './deps.ts'
import { suggestFollowUps } from './follow-ups.ts'
import { buildPrompt, HISTORY_MESSAGES } from './prompt.ts'
import { sessionNotFound } from './sessions.ts'
import { Stopwatch, type Timing } from './stopwatch.ts'

export interface SendInput {
  agent: Agent
  sessionId: string
  message: string
  additionalContext?: string | undefined
  format: ReplyFormat
}

/** A turn that came to its end: what the answer to a send is made from. */
export interface Exchange {
  session: Session
  userMessage: Message
  aiMessage: Message & { model: string }
  sources: Source[]
  usage: ModelUsage | null
  grounding: { answered: boolean; confidence: number }
  retrieval: Retrieval
  timings: Timing[]
  /** Undefined where the agent offers none. */
  followUps: (Suggestion & { id: string })[] | undefined
}

/**
 * Specification 4.6. The message is on the disk before anything is asked of a model; the reply is on the disk before it is answered.
 * Runs to its end whether or not the caller still listens. Throws `session_busy`, `session_not_found`, or `model_failed` and
 * `model_timeout` with the message kept: the same text sent again continues it.
 */
export async function sendMessage(deps: Deps, input: SendInput): Promise<Exchange> {
  const turn = await deps.turns.take(input.agent.id, input.sessionId)
  try {
    const { agent, sessionId } = input
    const session = await findSession(deps.db, agent.id, sessionId)
    if (session === undefined) throw sessionNotFound()
    const recent = await listRecent(deps.db, agent.id, sessionId, HISTORY_MESSAGES + 1)
    const { userMessage, history } = await openTurn(deps, session, recent, input.message)
    const signal = AbortSignal.any([turn.signal, AbortSignal.timeout(deps.limits.turnTimeoutMs)])
    try {
      const watch = new Stopwatch()
      const { topK, filter } = agent.retrieval
      const retrieval = await deps.knowledge.retrieve(agent.id, { query: input.message, history, topK, filter })
      watch.lap('retrieve')
      const reply = await generate(deps, agent, { ...input, history, retrieval }, signal)
      watch.lap('generate')
      const { markdown, sources } = cite(clean(reply.text), retrieval.hits, reply.quotes)
      const grounding = reply.grounding ?? {
        answered: retrieval.hits.length === 0 || sources.length > 0,
        confidence: retrieval.confidence,
      }
      const isHtml = input.format === 'html'
      const content = isHtml ? await renderHtml(markdown, agent.imageHosts) : markdown
      const createdAt = Math.max(deps.clock(), userMessage.createdAt)
      const aiMessage = { id: deps.newId(), role: 'AI' as const, content, model: reply.model, createdAt }
      const detail =
        sources.length === 0 && reply.usage === null ? null : JSON.stringify({ sources, usage: reply.usage, grounding })
      const stored = { ...aiMessage, markdown: isHtml ? markdown : null, detail }
      if (!(await completeTurn(deps.db, agent.id, sessionId, userMessage.id, stored))) throw sessionNotFound()
      watch.lap('store')
      turn.end() // what follows must not hold up the next message
      const asked = [...history, userMessage].filter(({ role }) => role === 'USER').map((m) => m.content)
      const followUps = grounding.answered ? await suggestFollowUps(deps, agent, asked, retrieval) : noFollowUps(agent)
      watch.lap('followUps')
      return {
        session,
        userMessage,
        aiMessage,
        sources,
        usage: reply.usage,
        grounding,
        retrieval,
        timings: watch.laps,
        followUps,
      }
    } catch (error) {
      throw await failTurn(deps, session, userMessage, signal, error)
    }
  } finally {
    turn.end()
  }
}

const noFollowUps = (agent: Agent) => (agent.followUps.enabled ? [] : undefined)

/** Puts the message down; or, where it is the session's last, failed, and says the same, takes it up again. */
async function openTurn(
  deps: Deps,
  session: Session,
  recent: RecentMessage[],
  content: string,
): Promise<{ userMessage: Message; history: RecentMessage[] }> {
  const last = recent.at(-1)
  if (last?.turn === 'failed' && last.content === content) {
    if (!(await moveTurn(deps.db, session.agentId, session.id, last.id, 'failed', 'running'))) throw sessionNotFound()
    return { userMessage: { id: last.id, role: 'USER', content, createdAt: last.createdAt }, history: recent.slice(0, -1) }
  }
  // Times never go back within a session, whatever the clock does.
  const userMessage: Message = {
    id: deps.newId(),
    role: 'USER',
    content,
    createdAt: Math.max(deps.clock(), session.lastMessageAt),
  }
  if (!(await beginTurn(deps.db, session.agentId, session.id, userMessage))) throw sessionNotFound()
  return { userMessage, history: recent.slice(-HISTORY_MESSAGES) }
}

type GenerateInput = Pick<SendInput, 'message' | 'additionalContext'> & { history: RecentMessage[]; retrieval: Retrieval }

/** Asks the agent's model, then its fallbacks in order. An agent with a least confidence does not ask at all below it. */
async function generate(
  deps: Deps,
  agent: Agent,
  { message, additionalContext, history, retrieval }: GenerateInput,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { minScore } = agent.retrieval
  const request: ModelRequest = {
    prompt: buildPrompt({ agent, history, message, additionalContext, hits: retrieval.hits }),
    temperature: agent.temperature,
    maxOutputTokens: agent.maxOutputTokens,
    grounding: { agentId: agent.id, question: message, history, retrieval, minScore },
  }
  if (minScore !== null && retrieval.confidence < minScore && agent.model !== 'extractive') {
    return { text: DONT_KNOW, model: agent.model, usage: null, grounding: { answered: false, confidence: retrieval.confidence } }
  }
  const names = [agent.model, ...agent.fallbackModels]
  for (const [i, name] of names.entries()) {
    try {
      return await deps.models.find(name).generate(request, signal)
    } catch (error) {
      if (signal.aborted || i === names.length - 1) throw error
      deps.warn(`model ${name} failed, its fallback is asked`, error)
    }
  }
  throw new ReparteeError('internal_error', 'No model is configured.')
}

/** What no store can keep becomes U+FFFD. */
const clean = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')

/** Marks the turn as failed, and says what the sender is told. Where the session was deleted meanwhile, nothing is left to mark. */
async function failTurn(
  deps: Deps,
  session: Session,
  userMessage: Message,
  signal: AbortSignal,
  error: unknown,
): Promise<unknown> {
  const { agentId, id } = session
  const marked = await moveTurn(deps.db, agentId, id, userMessage.id, 'running', 'failed').catch((e: unknown) => {
    deps.warn('a failed turn could not be marked', e)
    return true
  })
  if (!marked && (await findSession(deps.db, agentId, id)) === undefined) return sessionNotFound()
  const timedOut = signal.aborted && (signal.reason as Error).name === 'TimeoutError'
  if (signal.aborted && !timedOut)
    return new ReparteeError('unavailable', 'The service is stopping. Send the message again.', { retryAfter: 5 })
  const code = timedOut ? 'model_timeout' : error instanceof ReparteeError ? error.code : 'internal_error'
  if (code !== 'model_failed' && code !== 'model_timeout') return error
  const message = `is stored as ${userMessage.id}; send the same text again to continue it`
  const text = timedOut ? 'The model did not answer in time.' : (error as Error).message
  return new ReparteeError(code, text, { details: [{ path: 'userMessage', message }], cause: (error as Error).cause ?? error })
}
