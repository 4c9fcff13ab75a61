import type { Contract } from '../../api/contract.ts'
import type { ResponseOf } from '../../api/operation.ts'
import type { ApiKey } from '../../core/api-key.ts'
import type { Message } from '../../core/message.ts'
import { toIso } from '../../core/time.ts'
import type { Exchange } from '../../turns/exchange.ts'
import { visibleTo } from '../route/include.ts'

export const toMessage = ({ id, role, content, createdAt }: Message) => ({
  id,
  role,
  content,
  createdAt: toIso(createdAt),
})

export type Answer = Omit<ResponseOf<Contract['sendMessage']>, 'success'>

/** Returns the fields of specification 4.6, and the extras that the message was sent with if the reader may see them. */
export function toAnswer(e: Exchange, reader: ApiKey): Answer {
  const include = visibleTo(reader, e.include)
  return {
    chatSession: { id: e.session.id, name: e.session.name },
    userMessage: toMessage(e.userMessage),
    aiMessage: { ...toMessage(e.aiMessage), model: e.aiMessage.model },
    ...(e.followUps === undefined ? {} : { followUps: e.followUps }),
    ...(include.has('sources') ? { sources: e.sources } : {}),
    ...(include.has('usage') ? { usage: e.usage ?? { tokensIn: 0, tokensOut: 0, tokensCached: 0, cost: null } } : {}),
    ...(include.has('trace') && e.trace !== undefined ? { trace: e.trace } : {}),
  }
}
