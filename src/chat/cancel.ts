import type { Session } from '../core/session.ts'
import type { WholeMessage } from '../store/messages.ts'
import type { Deps } from './deps.ts'
import { getMessage, getQuestion } from './read-message.ts'

/** Stops the turn that answers a message. What was generated is stored, and the session free, when it resolves. A turn that has ended stays as it is. */
export async function cancelTurn(deps: Deps, session: Session, messageId: string): Promise<WholeMessage> {
  const message = await getQuestion(deps, session, messageId)
  const turn = deps.turns.find(message.id)
  if (turn === undefined) return message
  turn.stop('cancelled')
  await turn.released
  return getMessage(deps, session, messageId)
}
