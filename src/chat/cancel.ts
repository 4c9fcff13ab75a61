import { setTimeout as pause } from 'node:timers/promises'
import type { Session } from '../core/session.ts'
import type { WholeMessage } from '../store/messages.ts'
import type { Deps } from './deps.ts'
import { getMessage, getQuestion, turnStateOf } from './read-message.ts'

/** Stops the turn that answers a message. What was generated is stored, and the session free, when it resolves. A turn that has ended stays as it is. */
export async function cancelTurn(deps: Deps, session: Session, messageId: string): Promise<WholeMessage> {
  const message = await getQuestion(deps, session, messageId)
  const turn = deps.turns.find(message.id)
  if (turn === undefined) return cancelElsewhere(deps, session, message)
  turn.stop('cancelled')
  await turn.released
  return getMessage(deps, session, messageId)
}

const LOOK_EVERY_MS = 50
/** A replica that does not stop a turn for so long does not run it any more. */
const STOPPED_WITHIN_MS = 10_000

async function cancelElsewhere(deps: Deps, session: Session, message: WholeMessage): Promise<WholeMessage> {
  const { replicas } = deps
  if (replicas === undefined || (await turnStateOf(deps, session, message)) !== 'running') return message
  const end = performance.now() + STOPPED_WITHIN_MS
  const isAsked = await replicas.stopElsewhere(session.agentId, session.id)
  for (let found = message; ; found = await getMessage(deps, session, message.id)) {
    if (!isAsked || (await turnStateOf(deps, session, found)) !== 'running' || performance.now() > end) return found
    await pause(LOOK_EVERY_MS)
  }
}
