import type { Extra, Message } from '../core/message.ts'
import type { Source } from '../reply/cite.ts'
import type { FollowUp, Trace, Usage } from '../reply/trace.ts'

/** A message and its reply: the result of a turn. */
export interface Exchange {
  session: { id: string; name: string }
  userMessage: Message
  aiMessage: Message & { model: string }
  /** Undefined where the agent offers none. */
  followUps: FollowUp[] | undefined
  sources: Source[]
  usage: Usage | null
  trace: Trace | undefined
  /** What the sender asked for. */
  include: Extra[]
}
