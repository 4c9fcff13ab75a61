import type { Connection } from './connection.ts'
import { type Call, path, type RequestOptions } from './request.ts'
import { streamTurn, type TurnCalls, type TurnStream } from './turn.ts'

/** Input of `messages.resume`. */
export interface ResumeMessageInput {
  agentId: string
  sessionId: string
  /** The user's message, which identifies the turn. */
  messageId: string
  /** The stream starts after this event. Default: from the start of the turn. */
  lastEventId?: string | undefined
}

/** Resumes the stream of a turn, identified by the user's message. With `lastEventId`, starts after that event. */
export const resume = (to: Connection, input: ResumeMessageInput, options?: RequestOptions): TurnStream =>
  streamTurn(to, { first: toCall(input), resume: (_, lastEventId) => toCall({ ...input, lastEventId }) }, options)

/** Returns the function that resumes a turn of this session, once its message is known. */
export const resumeIn =
  ({ agentId, sessionId }: Pick<ResumeMessageInput, 'agentId' | 'sessionId'>): TurnCalls['resume'] =>
  (messageId, lastEventId) =>
    messageId === undefined ? undefined : toCall({ agentId, sessionId, messageId, lastEventId })

const toCall = ({ agentId, sessionId, messageId, lastEventId }: ResumeMessageInput): Call => ({
  method: 'GET',
  path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/stream`,
  ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
})
