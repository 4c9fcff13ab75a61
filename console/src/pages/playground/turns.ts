import type { ChatMessage, ConversationState } from 'repartee-client'

/** A message of the user with its reply. */
export interface Turn {
  question: ChatMessage
  reply?: ChatMessage
}

/** Leaves out replies before the first message of the user. */
export function toTurns(messages: readonly ChatMessage[]): Turn[] {
  const turns: Turn[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (message.role === 'USER') turns.push({ question: message })
    else if (last !== undefined) last.reply = message
  }
  return turns
}

export const isWriting = ({ status }: ConversationState) => status === 'waiting' || status === 'streaming'
