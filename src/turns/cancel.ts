import { setTimeout as pause } from 'node:timers/promises'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { Session } from '../core/session.ts'
import type { MessageHead, WholeMessage } from '../store/tables/messages.ts'
import type { TurnDeps } from './deps.ts'
import { checkQuestion, getHead, getMessage, turnStateOf } from './read-message.ts'
import type { Turn } from './turn.ts'

/** Stops the turn that answers a message. Resolves when the partial reply is stored and the session is free. A turn that has ended does not change. */
export async function cancelTurn(deps: TurnDeps, session: Session, messageId: string): Promise<WholeMessage> {
  const question = await getHead(deps, session, messageId)
  checkQuestion(question)
  const turn = deps.turns.find(question.id)
  if (turn === undefined) await cancelElsewhere(deps, session, question)
  else {
    turn.stop('cancelled')
    await turn.released
  }
  return getMessage(deps, session, messageId)
}

/** Stops a turn whose caller disconnected. Uses slices, because a thousand callers may leave at once and each stop takes half a millisecond of work. */
export const stopInTurn = (turn: Turn): Promise<void> => nextSlice(turn.agentId).then(() => turn.stop('cancelled'))

const LOOK_EVERY_MS = 50
/** If a replica does not stop a turn within this time, it no longer runs the turn. */
const STOPPED_WITHIN_MS = 10_000

/** Resolves when the turn has ended, or could not be stopped in time. */
async function cancelElsewhere(deps: TurnDeps, session: Session, question: MessageHead): Promise<void> {
  if ((await turnStateOf(deps, session, question)) !== 'running') return
  const end = performance.now() + STOPPED_WITHIN_MS
  const isAsked = await deps.peers.stopTurn(session, question.seq)
  for (let found = question; ; found = await getHead(deps, session, question.id)) {
    if (!isAsked || (await turnStateOf(deps, session, found)) !== 'running' || performance.now() > end) return
    await pause(LOOK_EVERY_MS)
  }
}
