import type { Extra, Message } from '../core/message.ts'
import type { Source } from '../reply/cite.ts'
import type { FollowUp, Trace, Usage } from '../reply/trace.ts'

/** A message and its reply: the result of a turn. */
export interface Exchange {
  session: { id: string; name: string }
  userMessage: Message
  aiMessage: Message & { model: string }
  /** Undefined if follow-ups are disabled for the agent. */
  followUps: FollowUp[] | undefined
  sources: Source[]
  usage: Usage | null
  trace: Trace | undefined
  /** The optional fields that the sender requested. */
  include: Extra[]
}
