import { setTimeout as pause } from 'node:timers/promises'
import { suggestFollowUps } from '../reply/follow-ups.ts'
import type { Draft } from '../reply/make-reply.ts'
import type { Statement } from '../store/database.ts'
import { countVersions, findSeq, setDetail } from '../store/tables/messages.ts'
import type { StoredReply } from '../store/tables/turns.ts'
import { isTransient } from '../store/transient.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { lostSession } from './fail-turn.ts'
import type { OpenTurn, TurnInput, TurnObserver } from './run-turn.ts'
import type { Turn } from './turn.ts'

const STORE_WITHIN_MS = 5_000
const TRY_AGAIN_MS = 200

/** Writes a reply and ends its turn in one transaction with `alongside`. Resolves to false if another turn has the session. */
export type WriteReply = (reply: StoredReply, alongside: Statement[]) => Promise<boolean>

export interface ReplyToStore {
  input: TurnInput
  observer: TurnObserver
  open: OpenTurn
  draft: Draft
  /** Of the reply, in milliseconds since 1970. */
  createdAt: number
  write: WriteReply
}

/**
 * Stores the reply of a turn, releases its session, and adds follow-ups. These do not delay the next message, and their failure does not fail the reply.
 */
export async function storeReply(deps: TurnDeps, turn: Turn, toStore: ReplyToStore): Promise<Exchange> {
  const { input, observer, open, draft, createdAt, write } = toStore
  const exchange = toExchange(input, open, draft, createdAt)
  const reply = {
    ...exchange.aiMessage,
    markdown: draft.markdown,
    detail: JSON.stringify(draft.detail),
    tookMs: Math.round(performance.now() - turn.begunAt),
    answered: draft.trace.finish === 'cancelled' ? null : draft.trace.grounding.answered,
  }
  const { agentId, id: sessionId } = open.session
  const event = { event: 'message.completed', agentId, sessionId, target: reply.id } as const
  const events = open.isEphemeral ? [] : deps.webhooks.queue(event)
  const alongside = [...(observer.alongside?.(exchange) ?? []), ...events]
  if (!(await writeUntilAnswered(deps, open, reply, () => write(reply, alongside)))) throw await lostSession(deps, turn)
  turn.stopwatch.lap('store')
  deps.turns.release(turn)
  if (turn.stopped === undefined) await addFollowUps(deps, input, open, { exchange, draft })
  turn.stopwatch.lap('followUps')
  return exchange
}

function toExchange({ agent, include }: TurnInput, open: OpenTurn, draft: Draft, createdAt: number): Exchange {
  return {
    session: open.session,
    userMessage: open.userMessage,
    aiMessage: { id: open.replyId, createdAt, role: 'AI', content: draft.content, model: draft.model },
    followUps: agent.followUps.enabled ? [] : undefined,
    sources: draft.detail.sources ?? [],
    usage: draft.usage,
    trace: draft.trace,
    include,
  }
}

/** Retries the write: if a database connection broke, the reply may have been written and only the acknowledgement lost. */
async function writeUntilAnswered(
  deps: TurnDeps,
  open: OpenTurn,
  { id }: StoredReply,
  write: () => Promise<boolean>,
): Promise<boolean> {
  const end = performance.now() + STORE_WITHIN_MS
  for (let tries = 1; ; tries++) {
    try {
      return (await write()) || (tries > 1 && (await isStored(deps, open, id)))
    } catch (error) {
      if (!deps.db.mayLoseAnswers || !isTransient(error) || performance.now() > end) throw error
      await pause(TRY_AGAIN_MS)
    }
  }
}

async function isStored({ db }: TurnDeps, { session, versions }: OpenTurn, replyId: string): Promise<boolean> {
  if ((await findSeq(db, session.agentId, session.id, replyId)) === undefined) return false
  return (await countVersions(db, session.agentId, session.id, replyId)) === versions
}

/** Stores follow-ups with the reply, so that they can be read again. */
async function addFollowUps(
  deps: TurnDeps,
  input: TurnInput,
  { session, past, versions, isEphemeral }: OpenTurn,
  { exchange, draft }: { exchange: Exchange; draft: Draft },
): Promise<void> {
  const { agent } = input
  const { userMessage, aiMessage } = exchange
  if (!agent.followUps.enabled || !draft.trace.grounding.answered) return
  const asked = [...past.messages, userMessage].filter(({ role }) => role === 'USER').map((m) => m.content)
  const reply = draft.markdown ?? draft.content
  const followUps = await suggestFollowUps(deps, input, { asked, reply, retrieval: draft.retrieval })
  if (followUps === undefined || followUps.length === 0) return
  exchange.followUps = followUps
  if (isEphemeral) return
  const detail = JSON.stringify({ ...draft.detail, followUps })
  await setDetail(deps.db, agent.id, session.id, aiMessage.id, versions, detail).catch((error: unknown) =>
    deps.warn('follow-ups could not be stored', error),
  )
}
