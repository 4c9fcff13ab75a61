export const roles = ['USER', 'AI'] as const
export type Role = (typeof roles)[number]

export const replyFormats = ['markdown', 'html'] as const
export type ReplyFormat = (typeof replyFormats)[number]

/** Further fields that a sender may ask for. */
export const extras = ['sources', 'usage', 'trace'] as const
export type Extra = (typeof extras)[number]

/** What became of the turn that a USER message opened. A reply follows where it is `done`, and where it was `cancelled` with something generated. */
export const turnStates = ['running', 'done', 'failed', 'cancelled'] as const
export type TurnState = (typeof turnStates)[number]

/** One message of a session (specification 2.2). */
export interface Message {
  id: string
  role: Role
  /** As sent to the client: Markdown or HTML, whichever was asked for. */
  content: string
  createdAt: number
}

/** What the session remembers of a message for later prompts. */
export interface HistoryEntry {
  role: Role
  /** Markdown, also where the client was sent HTML. */
  content: string
  /** Size of the whole message in bytes of UTF-8, where `content` may be only its beginning and its end. */
  bytes?: number
}
