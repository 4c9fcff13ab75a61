import { setTimeout as pause } from 'node:timers/promises'
import { ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { Extra, Message, ReplyFormat } from '../core/message.ts'
import type { Outcome } from '../core/meters.ts'
import type { Session } from '../core/session.ts'
import type { Span } from '../core/tracer.ts'
import type { Statement } from '../store/database.ts'
import { countVersions, findPlace, setDetail } from '../store/messages.ts'
import { findSession } from '../store/sessions.ts'
import type { StoredReply } from '../store/turns.ts'
import type { Payer } from './budgets.ts'
import type { Deps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { lostSession, SessionTaken, toldOf } from './fail-turn.ts'
import { suggestFollowUps } from './follow-ups.ts'
import { agentEnd, agentSpan } from './gen-ai.ts'
import type { Past } from './history.ts'
import { type Draft, makeReply } from './make-reply.ts'
import { Stopwatch } from './stopwatch.ts'
import type { Turn } from './turn.ts'

/** How a turn is followed from outside. */
export interface Window {
  /** The message is stored, and the reply begins to grow. */
  onStart?: (turn: Turn, session: Session, userMessage: Message) => void
  /** Goes into the transaction in which the turn takes its session: nothing is done if a condition does not hold. */
  condition?: Statement[]
  /** What goes into the transaction that stores the reply. */
  alongside?: (exchange: Exchange) => Statement[]
}

export interface Asked extends Payer {
  sessionId: string
  /** As it was a moment ago; read anew where that is not how it is any more. */
  session?: Session | undefined
  additionalContext?: string | undefined
  include: Extra[]
  userId: string
}

/** A turn that has its session for itself. */
export interface Opened {
  session: Session
  userMessage: Message
  /** The conversation before the message. */
  past: Past
  format: ReplyFormat
  /** Nothing of it is kept, and nobody is told of it. */
  isPassing?: boolean
  /** How many earlier versions the reply will have. */
  versions: number
  /** Of the reply: its own where it takes the place of one. */
  reply: () => { id: string; createdAt: number }
  /** Ends the turn in the store. Resolves to false where the session is not its own any more. */
  store(reply: StoredReply, alongside: Statement[]): Promise<boolean>
  /** Ends it without a reply, and says what the sender is told. */
  fail(thrown: unknown): Promise<ReparteeError>
}

/**
 * One turn of a session, from waiting for it to telling what it came to. Runs to its end whether or not the caller still listens: the reply
 * is on the disk before it is answered, and what follows it holds up neither the next message nor, where it fails, the reply.
 */
export function runTurn(
  deps: Deps,
  asked: Asked,
  open: (turn: Turn, session: Session) => Promise<Opened>,
  window: Window,
): Promise<{ exchange: Exchange; opened: Opened }> {
  return deps.tracer.span(
    () => agentSpan(asked.agent, asked.sessionId),
    (span) => runInTurn(deps, asked, open, window, span),
  )
}

async function runInTurn(
  deps: Deps,
  asked: Asked,
  open: (turn: Turn, session: Session) => Promise<Opened>,
  window: Window,
  span: Span,
): Promise<{ exchange: Exchange; opened: Opened }> {
  const { agent } = asked
  const isFree = deps.turns.isFree(asked.sessionId)
  const turn = await deps.turns.take(agent.id, asked.sessionId)
  turn.condition = window.condition ?? []
  try {
    const opened = await openInTurn(deps, asked, isFree, turn, open)
    const { session } = opened
    const { userMessage, past } = opened
    try {
      deps.turns.start(turn, userMessage.id, deps.clock())
      window.onStart?.(turn, session, userMessage)
      const watch = new Stopwatch()
      const draft = await makeReply(deps, { ...asked, message: userMessage.content, format: opened.format, past }, turn, watch)
      const exchange = toExchange(asked, opened, draft)
      await storeReply(deps, turn, opened, exchange, draft, window)
      watch.lap('store')
      deps.turns.release(turn)
      if (turn.stopped === undefined) await addFollowUps(deps, asked, opened, exchange, draft)
      watch.lap('followUps')
      meterTurn(deps, turn, exchange.trace?.finish === 'cancelled' ? 'cancelled' : 'ok')
      span.set(() => agentEnd(exchange, deps.tracer.tellsText))
      turn.finish({ exchange })
      return { exchange, opened }
    } catch (thrown) {
      const error = await opened.fail(thrown).catch((e: unknown) => toldOf(turn, userMessage.id, e))
      meterTurn(deps, turn, error.code === 'turn_cancelled' ? 'cancelled' : error.code)
      turn.finish({ error })
      throw error
    }
  } finally {
    if (turn.messageId === undefined && turn.position !== undefined) deps.peers.leave(agent.id, turn.sessionId, turn.position)
    if (turn.settled === undefined) deps.turns.release(turn)
    else turn.settled.then(() => deps.turns.release(turn))
    deps.turns.forget(turn)
  }
}

function meterTurn({ meters }: Deps, { begunAt, firstTextAt }: Turn, outcome: Outcome | 'cancelled'): void {
  const firstTextMs = firstTextAt === undefined ? undefined : firstTextAt - begunAt
  meters.turnEnded(outcome, performance.now() - begunAt, firstTextMs)
}

/**
 * Begins with the session as it was when it was asked for, if it `isFree`: if that is not how it is, nothing is written, and it is read. Where another replica has
 * it, or earlier sends wait there, this one waits, and reads what the session holds by then. Throws `session_not_found` if the session was deleted, also where another one
 * has its id by then.
 */
async function openInTurn(
  deps: Deps,
  { agent, sessionId, session: asked }: Asked,
  isFree: boolean,
  turn: Turn,
  open: (turn: Turn, session: Session) => Promise<Opened>,
): Promise<Opened> {
  let known = isFree ? asked : undefined
  for (;;) {
    const session = known ?? (await findSession(deps.db, agent.id, sessionId))
    // One that was deleted in between may be there again under the same id.
    if (session === undefined || (asked !== undefined && session.createdAt !== asked.createdAt)) throw sessionNotFound()
    try {
      return await open(turn, session)
    } catch (error) {
      if (!(error instanceof SessionTaken)) throw error
    }
    if (known === undefined) await deps.peers.waitFor(turn)
    known = undefined
  }
}

function toExchange({ agent, include }: Asked, { session, userMessage, reply }: Opened, draft: Draft): Exchange {
  return {
    session,
    userMessage,
    aiMessage: { ...reply(), role: 'AI', content: draft.content, model: draft.model },
    followUps: agent.followUps.enabled ? [] : undefined,
    sources: draft.detail.sources ?? [],
    usage: draft.usage,
    trace: draft.trace,
    include,
  }
}

async function storeReply(
  deps: Deps,
  turn: Turn,
  opened: Opened,
  exchange: Exchange,
  draft: Draft,
  { alongside }: Window,
): Promise<void> {
  const reply = {
    ...exchange.aiMessage,
    markdown: draft.markdown,
    detail: JSON.stringify(draft.detail),
    tookMs: Math.round(performance.now() - turn.begunAt),
    answered: draft.trace.finish === 'cancelled' ? null : draft.trace.grounding.answered,
  }
  const { agentId, id: sessionId } = opened.session
  const done = { event: 'message.completed', agentId, sessionId, target: reply.id } as const
  const news = opened.isPassing ? [] : deps.webhooks.queue(done)
  if (!(await store(deps, opened, reply, [...(alongside?.(exchange) ?? []), ...news]))) throw await lostSession(deps, turn)
}

const STORE_WITHIN_MS = 5_000
const TRY_AGAIN_MS = 200

/** Where a connection to the database broke, the reply is tried again, for it may have been written, and its answer lost. */
async function store(deps: Deps, opened: Opened, reply: StoredReply, alongside: Statement[]): Promise<boolean> {
  const end = performance.now() + STORE_WITHIN_MS
  for (let tries = 1; ; tries++) {
    try {
      return (await opened.store(reply, alongside)) || (tries > 1 && (await isStored(deps, opened, reply.id)))
    } catch (error) {
      const isPassing = error instanceof ReparteeError && error.code === 'unavailable'
      if (!deps.db.mayLoseAnswers || !isPassing || performance.now() > end) throw error
      await pause(TRY_AGAIN_MS)
    }
  }
}

async function isStored({ db }: Deps, { session, versions }: Opened, replyId: string): Promise<boolean> {
  if ((await findPlace(db, session.agentId, session.id, replyId)) === undefined) return false
  return (await countVersions(db, session.agentId, session.id, replyId)) === versions
}

/** What is found is kept beside the reply, so that it can be read again. */
async function addFollowUps(
  deps: Deps,
  payer: Payer,
  { past, versions, isPassing }: Opened,
  exchange: Exchange,
  draft: Draft,
): Promise<void> {
  const { session, userMessage, aiMessage } = exchange
  const { agent } = payer
  if (!agent.followUps.enabled || !draft.trace.grounding.answered) return
  const asked = [...past.messages, userMessage].filter(({ role }) => role === 'USER').map((m) => m.content)
  const reply = draft.markdown ?? draft.content
  const followUps = await suggestFollowUps(deps, payer, { asked, reply, retrieval: draft.retrieval })
  if (followUps === undefined || followUps.length === 0) return
  exchange.followUps = followUps
  if (isPassing) return
  const detail = JSON.stringify({ ...draft.detail, followUps })
  await setDetail(deps.db, agent.id, session.id, aiMessage.id, versions, detail).catch((error: unknown) =>
    deps.warn('follow-ups could not be kept', error),
  )
}
