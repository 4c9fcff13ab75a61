import type { ChatMessage } from 'repartee-client'

/** A question of the visitor, or a reply. Until the service has stored a reply, its entry shows the state of the question. */
export interface Entry {
  key: string
  role: 'user' | 'agent'
  message: ChatMessage
}

export const toEntries = (messages: readonly ChatMessage[]): Entry[] =>
  messages.flatMap((message, i) => {
    const { key, role, turn } = message
    const before = messages[i - 1]
    if (role === 'AI') return { key: before?.role === 'USER' ? toReplyKey(before) : key, role: 'agent' as const, message }
    const question = { key, role: 'user' as const, message }
    const hasReply = messages[i + 1]?.role === 'AI' || turn === undefined || turn === 'done'
    return hasReply ? question : [question, { key: toReplyKey(message), role: 'agent' as const, message }]
  })

/** A reply keeps its place in the page from the question on. */
const toReplyKey = ({ key }: ChatMessage): string => `reply-to-${key}`

/** Returns how far the reply of an entry is. */
export function stateOf({ role, turn, content }: ChatMessage): 'waiting' | 'writing' | 'done' | 'stopped' | 'failed' {
  if (turn === 'running') return role === 'USER' || content === '' ? 'waiting' : 'writing'
  if (turn === 'cancelled') return 'stopped'
  return role === 'USER' ? 'failed' : 'done'
}
