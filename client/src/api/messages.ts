import type { Connection } from '../connection.ts'
import { eachItem } from '../pages.ts'
import { type Call, type PostOptions, path, type RequestOptions, request } from '../request.ts'
import { streamTurn, type TurnStream } from '../turn.ts'
import type {
  Answer,
  CancelMessageResponse,
  DeleteFeedbackResponse,
  GetMessageQuery,
  GetMessageResponse,
  ListMessagesQuery,
  ListMessagesResponse,
  ListVersionsResponse,
  Message,
  RegenerateMessageBody,
  SendMessageBody,
  SetFeedbackBody,
  SetFeedbackResponse,
} from '../types.ts'

const sending = (agentId: string, sessionId: string, body: SendMessageBody): Call => ({
  method: 'POST',
  path: path`/agents/${agentId}/sessions/${sessionId}/messages`,
  body,
})
const regenerating = (agentId: string, sessionId: string, messageId: string, body: RegenerateMessageBody): Call => ({
  method: 'POST',
  path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/regenerate`,
  body,
})
const resuming = (agentId: string, sessionId: string, messageId: string, lastEventId?: string): Call => ({
  method: 'GET',
  path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/stream`,
  ...(lastEventId === undefined ? {} : { headers: { 'last-event-id': lastEventId } }),
})
const resumingIn = (agentId: string, sessionId: string) => (messageId: string | undefined, lastEventId: string) =>
  messageId === undefined ? undefined : resuming(agentId, sessionId, messageId, lastEventId)

/** Sends a message and resolves to the complete answer. */
export const send = (
  to: Connection,
  agentId: string,
  sessionId: string,
  body: SendMessageBody,
  options?: PostOptions,
): Promise<Answer> => request(to, sending(agentId, sessionId, body), options)

/** Sends a message and yields the turn's events. Leaving the loop closes the stream; the turn continues and its reply is stored. */
export const stream = (
  to: Connection,
  agentId: string,
  sessionId: string,
  body: SendMessageBody,
  options?: PostOptions,
): TurnStream => streamTurn(to, { first: sending(agentId, sessionId, body), resume: resumingIn(agentId, sessionId) }, options)

/** Resumes the stream of a turn, identified by the user's message. With `lastEventId`, starts after that event. */
export const resume = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  { lastEventId, ...options }: RequestOptions & { lastEventId?: string | undefined } = {},
): TurnStream => {
  const behind = (event?: string) => resuming(agentId, sessionId, messageId, event)
  return streamTurn(to, { first: behind(lastEventId), resume: (_, event) => behind(event) }, options)
}

/** Regenerates the last reply of the session and resolves to the complete answer. */
export const regenerate = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  body: RegenerateMessageBody = {},
  options?: PostOptions,
): Promise<Answer> => request(to, regenerating(agentId, sessionId, messageId, body), options)

/** Regenerates the last reply of the session and yields the turn's events. */
export const streamRegenerate = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  body: RegenerateMessageBody = {},
  options?: PostOptions,
): TurnStream =>
  streamTurn(to, { first: regenerating(agentId, sessionId, messageId, body), resume: resumingIn(agentId, sessionId) }, options)

/** Cancels the turn that answers a user's message. The text generated so far becomes the reply. */
export const cancel = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  options?: PostOptions,
): Promise<CancelMessageResponse> =>
  request(to, { method: 'POST', path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/cancel` }, options)

/** Reads the history, oldest message first, a page at a time. */
export const list = (
  to: Connection,
  agentId: string,
  sessionId: string,
  query?: ListMessagesQuery,
  options?: RequestOptions,
): Promise<ListMessagesResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/sessions/${sessionId}/messages`, query }, options)

/** The whole history, oldest message first, fetched page by page. */
export const iterate = (
  to: Connection,
  agentId: string,
  sessionId: string,
  query?: ListMessagesQuery,
  options?: RequestOptions,
): AsyncGenerator<Message, void> =>
  eachItem(
    query,
    (page) => list(to, agentId, sessionId, page, options),
    ({ messages }) => messages,
  )

/** Reads one message and the state of its turn. */
export const get = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  query?: GetMessageQuery,
  options?: RequestOptions,
): Promise<GetMessageResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}`, query }, options)

/** Sets the feedback on a reply. */
export const rate = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  body: SetFeedbackBody,
  options?: RequestOptions,
): Promise<SetFeedbackResponse> =>
  request(
    to,
    { method: 'PUT', path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/feedback`, body },
    options,
  )

/** Removes the feedback on a reply. */
export const unrate = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  options?: RequestOptions,
): Promise<DeleteFeedbackResponse> =>
  request(to, { method: 'DELETE', path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/feedback` }, options)

/** Lists the earlier versions of a regenerated reply, oldest first. */
export const versions = (
  to: Connection,
  agentId: string,
  sessionId: string,
  messageId: string,
  options?: RequestOptions,
): Promise<ListVersionsResponse> =>
  request(to, { method: 'GET', path: path`/agents/${agentId}/sessions/${sessionId}/messages/${messageId}/versions` }, options)
