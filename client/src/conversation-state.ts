import type { ReparteeError } from './errors.ts'
import type {
  Answer,
  CitedSource,
  CreateSessionInput,
  Feedback,
  FollowUp,
  Message,
  MessageDetail,
  Role,
  SendMessageInput,
  Trace,
  TurnState,
  Usage,
} from './types.ts'
import { uuid } from './uuid.ts'

export type MessageOptions = Omit<SendMessageInput, 'agentId' | 'sessionId' | 'message'>

export interface ConversationOptions {
  agentId: string
  /** Default: a session is created with the first message. */
  sessionId?: string | undefined
  /** Options for a session that this conversation creates, such as its name and user. */
  create?: Omit<CreateSessionInput, 'agentId'> | undefined
  /** Extra data to request with each reply. Default: sources. */
  include?: SendMessageInput['include']
  format?: SendMessageInput['format']
  additionalContext?: SendMessageInput['additionalContext']
  /** A message whose result was unknown when the page was left: `unsent` of the earlier state. */
  unsent?: string | undefined
  /** How often a lost connection is retried, in addition to the retries of the connection. Attempts while the browser is offline do not count. Default: 0. */
  reconnects?: number | undefined
}

/** A message for display. */
export interface ChatMessage {
  /** Changes once for a message that was just sent, when the service assigns its id. */
  id: string
  /** Never changes. */
  key: string
  role: Role
  /** The partial text while a reply is being generated. */
  content: string
  createdAt: string
  /**
   * State of the last turn: `running` while the reply is generated; `failed` if there is no reply and the same text can be sent again;
   * `cancelled` if the reply was stopped.
   */
  turn?: TurnState
  /** Why the last attempt to get a reply to this message failed. */
  error?: ReparteeError | undefined
  format?: SendMessageInput['format']
  sources?: CitedSource[]
  followUps?: FollowUp[]
  feedback?: Feedback | undefined
  model?: string
  usage?: Usage
  trace?: Trace
  /** How often this conversation saw the reply being generated: 2 or more if it was regenerated. Undefined for a reply from the history. */
  generation?: number
  /** The reply was read from the history, which has only the text. `loadDetails` reads the rest. */
  needsDetails?: boolean
}

export interface ConversationState {
  sessionId: string | undefined
  /** Undefined until the service has returned it. */
  session: Answer['chatSession'] | undefined
  messages: readonly ChatMessage[]
  /** `waiting`: a message was sent and no reply text has arrived. A message can be sent in state `ready`. */
  status: 'loading' | 'ready' | 'waiting' | 'streaming'
  /** The history was read, or there is none. */
  isLoaded: boolean
  /** The connection is lost, and the running turn will be resumed. */
  isBroken: boolean
  /** The running reply is being stopped. */
  isStopping: boolean
  /** Text of a message that the service has not confirmed. */
  unsent: string | undefined
  /** The last error. The next action clears it. */
  error: ReparteeError | undefined
}

/** Returns a message that is not sent yet. */
export function newMessage(content: string): ChatMessage {
  const id = uuid()
  return { id, key: id, role: 'USER', content, createdAt: new Date().toISOString() }
}

/** Maps a message of the history. */
export const toListed = ({ id, role, content, createdAt }: Omit<Message, 'type'>): ChatMessage => ({
  ...{ id, key: id, role, content, createdAt },
  ...(role === 'AI' && { needsDetails: true }),
})

export const toDetails = ({ type: _, ...details }: MessageDetail): Partial<ChatMessage> => ({ ...details, needsDetails: false })

/** Maps a complete answer to its reply. */
export const toReply = ({ aiMessage, sources, followUps, usage, trace }: Answer): Omit<ChatMessage, 'key'> => ({
  ...aiMessage,
  ...(sources && { sources }),
  ...(followUps && { followUps }),
  ...(usage && { usage }),
  ...(trace && { trace }),
})
