import type { Agent } from '../../core/agent.ts'
import { ReparteeError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import { createSession, deleteIfThere } from '../../sessions/sessions.ts'
import { stopInTurn } from '../../turns/cancel.ts'
import type { Exchange } from '../../turns/exchange.ts'
import { sendMessage } from '../../turns/send-message.ts'
import type { Turn } from '../../turns/turn.ts'
import { getSessionFor, takeUserRate } from '../route/admit.ts'
import { type EventStream, toEvent } from '../turns/event-stream.ts'
import type { ToolContext, ToolResult } from './tool.ts'

/** Runs one turn in a session; in a new one if no session is named. */
export async function ask(work: ToolContext, input: { question: string; sessionId?: string }, agent: Agent): Promise<ToolResult> {
  const { deps, key } = work
  const { session, isNew } = await openSession(work, input.sessionId, agent)
  const follower = new Follower(work)
  try {
    const asked = { agent, sessionId: session.id, session, userId: session.userId, key, message: input.question }
    const onStart = (turn: Turn) => follower.begin(turn)
    return toResult(await sendMessage(deps, { ...asked, format: 'markdown', include: [] }, { onStart }))
  } catch (error) {
    if (!isNew) throw error
    if (follower.hasBegun) throw inSession(error, session)
    // Nothing was stored, so nobody needs the session.
    await deleteIfThere(deps, session)
    throw error
  } finally {
    follower.end()
  }
}

async function openSession(
  { deps, key, reply }: ToolContext,
  sessionId: string | undefined,
  { id: agentId }: Agent,
): Promise<{ session: Session; isNew: boolean }> {
  const isNew = sessionId === undefined
  // The rate of a user applies before anything is created.
  if (isNew && key.userId !== undefined) await takeUserRate(deps, reply, { agentId, userId: key.userId })
  if (isNew) return { session: await createSession(deps, agentId, { externalUserId: key.userId }), isNew }
  const session = await getSessionFor(deps, key, agentId, sessionId.toLowerCase())
  await takeUserRate(deps, reply, session)
  return { session, isNew }
}

/** Returns the error with the session in which the question can be repeated. */
function inSession(thrown: unknown, { id }: Session): unknown {
  if (!(thrown instanceof ReparteeError)) return thrown
  const { code, message, details = [], retryAfter, quota, cause } = thrown
  const told = [...details, { path: 'session', message: `is ${id}` }]
  return new ReparteeError(code, message, { details: told, retryAfter, quota, cause })
}

function toResult({ session, aiMessage, sources, followUps, trace }: Exchange): ToolResult {
  const questions = followUps?.map(({ text }) => text)
  const cited = sources.map(({ index, title, url, page }) => {
    const place = [title, page === undefined ? '' : `page ${page}`, url ?? ''].filter((part) => part !== '')
    return `[${index}] ${place.join(', ')}`
  })
  const parts = [
    aiMessage.content,
    ...(cited.length === 0 ? [] : [`Sources:\n${cited.join('\n')}`]),
    ...(questions?.length ? [`Further questions:\n${questions.map((text) => `- ${text}`).join('\n')}`] : []),
    `Session: ${session.id}`,
  ]
  const data = {
    reply: aiMessage.content,
    answered: trace?.grounding.answered ?? true,
    sources,
    ...(questions === undefined ? {} : { followUps: questions }),
    sessionId: session.id,
  }
  return { text: parts.join('\n\n'), data }
}

const TELL_EVERY_MS = 250
/** Characters of one notification. */
const PIECE_CHARS = 4_096

/** Reports progress of a turn to the caller if requested, and stops the turn when the caller disconnects. */
class Follower {
  readonly #work: ToolContext
  #timer: NodeJS.Timeout | undefined
  #unwatch: (() => void) | undefined
  #turn: Turn | undefined
  #told = 0
  #isOver = false

  constructor(work: ToolContext) {
    this.#work = work
    const { raw } = work.reply
    if (work.stopsWithCaller) raw.once('close', () => !this.#isOver && this.#turn && stopInTurn(this.#turn))
  }

  /** Whether the question is stored. */
  get hasBegun(): boolean {
    return this.#turn !== undefined
  }

  begin(turn: Turn): void {
    this.#turn = turn
    const { progressToken, streams, reply, key, request, stopsWithCaller } = this.#work
    if (stopsWithCaller && reply.raw.destroyed) turn.stop('cancelled')
    if (progressToken === undefined) return
    const stream = streams.open(reply, key)
    request.mcpStream = stream
    // Sent text cannot be taken back: a watched turn is not restarted with another model.
    this.#unwatch = turn.watch(() => {})
    this.#timer = setInterval(() => this.#tell(stream, turn, progressToken), TELL_EVERY_MS)
  }

  end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.#unwatch?.()
  }

  #tell(stream: EventStream, turn: Turn, progressToken: string | number): void {
    if (!stream.takes || turn.length === this.#told) return
    const message = turn.read(this.#told, PIECE_CHARS)
    this.#told += message.length
    const params = { progressToken, progress: this.#told, message }
    stream.send(toEvent('message', undefined, { jsonrpc: '2.0', method: 'notifications/progress', params }))
  }
}
