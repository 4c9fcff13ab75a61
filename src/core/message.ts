export const roles = ['USER', 'AI'] as const
export type Role = (typeof roles)[number]

export const replyFormats = ['markdown', 'html'] as const
export type ReplyFormat = (typeof replyFormats)[number]

/** What became of the turn that a USER message opened. Only `done` is followed by a reply. */
export const turnStates = ['running', 'done', 'failed'] as const
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
}
