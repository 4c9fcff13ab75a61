import type { CitedSource, FollowUp, ReparteeError } from 'repartee-client'

/** What the visitor wrote. */
export interface Question {
  role: 'user'
  /** Of the message, when the service has it. */
  id?: string | undefined
  text: string
}

/** What the agent says to it. */
export interface Reply {
  role: 'agent'
  id?: string | undefined
  state: 'waiting' | 'writing' | 'done' | 'stopped' | 'failed'
  /** While it is written, in Markdown. */
  text: string
  /** When it is whole, as the service keeps it. */
  content?: string | undefined
  /** Of `content`; undefined where that is not known yet. */
  format?: 'html' | 'markdown' | undefined
  sources: CitedSource[]
  followUps: FollowUp[]
  rating?: 'up' | 'down' | undefined
  error?: ReparteeError | undefined
  /** It came from the history, which holds nothing but the text. */
  isBare?: boolean | undefined
}

export type Entry = Question | Reply

export const newReply = (state: Reply['state'] = 'waiting'): Reply => ({
  role: 'agent',
  state,
  text: '',
  sources: [],
  followUps: [],
})
