/** An id of OpenAI's protocols must identify an object without its agent and session, so it contains their ids. */
const BYTES = 16

const pack = (...ids: string[]): string =>
  Buffer.from(ids.map((id) => id.replaceAll('-', '')).join(''), 'hex').toString('base64url')

function unpack(text: string, count: number): string[] | undefined {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== count * BYTES || bytes.toString('base64url') !== text) return undefined
  return Array.from({ length: count }, (_, i) => dashed(bytes.toString('hex', i * BYTES, (i + 1) * BYTES)))
}

const dashed = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

export interface ConversationRef {
  agentId: string
  sessionId: string
}
export interface ResponseRef extends ConversationRef {
  replyId: string
}

export const toConversationId = ({ agentId, sessionId }: ConversationRef): string => `conv_${pack(agentId, sessionId)}`

export function readConversationId(id: string): ConversationRef | undefined {
  const [agentId, sessionId] = (id.startsWith('conv_') && unpack(id.slice(5), 2)) || []
  return agentId === undefined || sessionId === undefined ? undefined : { agentId, sessionId }
}

const PLAIN = /^(?:conv_)?([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})$/i

/** Reads a session's own id, plain or with the prefix `conv_`, if the agent is known. */
export const readSessionId = (id: string): string | undefined => PLAIN.exec(id)?.slice(1).join('-').toLowerCase()

export const toResponseId = ({ agentId, sessionId, replyId }: ResponseRef): string => `resp_${pack(agentId, sessionId, replyId)}`

export function readResponseId(id: string): ResponseRef | undefined {
  const [agentId, sessionId, replyId] = (id.startsWith('resp_') && unpack(id.slice(5), 3)) || []
  if (agentId === undefined || sessionId === undefined || replyId === undefined) return undefined
  return { agentId, sessionId, replyId }
}

export const toItemId = (messageId: string): string => `msg_${messageId.replaceAll('-', '')}`

export const readItemId = (id: string): string | undefined =>
  /^msg_[0-9a-f]{32}$/i.test(id) ? dashed(id.slice(4).toLowerCase()) : undefined
