import type { CitedSource, FollowUp, ReparteeError } from 'repartee-client'

/** A message of the visitor. */
export interface Question {
  role: 'user'
  /** The id of the message, once the service has stored it. */
  id?: string | undefined
  text: string
}

export interface Reply {
  role: 'agent'
  id?: string | undefined
  state: 'waiting' | 'writing' | 'done' | 'stopped' | 'failed'
  /** The partial reply in Markdown. */
  text: string
  /** The complete reply as the service stores it. */
  content?: string | undefined
  /** The format of `content`. Undefined until it is known. */
  format?: 'html' | 'markdown' | undefined
  sources: CitedSource[]
  followUps: FollowUp[]
  rating?: 'up' | 'down' | undefined
  error?: ReparteeError | undefined
  /** Loaded from the history, which contains only the text. */
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
