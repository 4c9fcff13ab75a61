export const roles = ['USER', 'AI'] as const
export type Role = (typeof roles)[number]

export const replyFormats = ['markdown', 'html'] as const
export type ReplyFormat = (typeof replyFormats)[number]

/** Optional fields that a sender may request. */
export const extras = ['sources', 'usage', 'trace'] as const
export type Extra = (typeof extras)[number]

/** States of the turn of a USER message. A reply follows if it is `done`, and if it was `cancelled` after some text was generated. */
export const turnStates = ['running', 'done', 'failed', 'cancelled'] as const
export type TurnState = (typeof turnStates)[number]

/** One message of a session (specification 2.2). */
export interface Message {
  id: string
  role: Role
  /** As sent to the client, in the requested format: Markdown or HTML. */
  content: string
  createdAt: number
}

/** A message as used in later prompts. */
export interface HistoryEntry {
  role: Role
  /** Markdown, even if the client received HTML. */
  content: string
  /** Size of the whole message in bytes of UTF-8, if `content` may be only its beginning and end. */
  bytes?: number
}
