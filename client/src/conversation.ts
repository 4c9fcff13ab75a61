import * as messages from './api/messages.ts'
import * as sessions from './api/sessions.ts'
import type { Connection } from './connection.ts'
import { ReparteeError } from './errors.ts'
import type { TurnStream } from './turn.ts'
import type {
  Answer,
  CitedSource,
  CreateSessionBody,
  Feedback,
  FollowUp,
  MessageDetail,
  Role,
  SendMessageBody,
  TurnState,
} from './types.ts'
import { uuid } from './uuid.ts'

export interface ConversationOptions {
  agentId: string
  /** Left out: a session is made with the first message. */
  sessionId?: string | undefined
  /** Of the session that is made: its name and its user. */
  create?: CreateSessionBody | undefined
  /** What is wanted beside the reply; its sources unless given. */
  include?: SendMessageBody['include']
  format?: SendMessageBody['format']
}

/** A message as it is shown. */
export interface ChatMessage {
  /** Changes once for what was just sent, when the service has given it an id. */
  id: string
  role: Role
  /** Of a reply that is being written: what there is of it. */
  content: string
  createdAt: string
  /** Of the last turn: `running` while its reply is written, `failed` where there is none and the same text may be sent again. */
  turn?: TurnState
  sources?: CitedSource[]
  followUps?: FollowUp[]
  feedback?: Feedback
}

export interface ConversationState {
  sessionId: string | undefined
  messages: readonly ChatMessage[]
  /** `waiting`: a message was sent, and nothing of the reply has come. A message can be sent when it is `ready`. */
  status: 'loading' | 'ready' | 'waiting' | 'streaming'
  /** What went wrong last, until something is done again. */
  error: ReparteeError | undefined
}

/** The messages of a turn that is running, behind those that came before it. */
interface Running {
  before: readonly ChatMessage[]
  user: ChatMessage
  /** What there is of the reply; with what stood in its place before, where it is made anew. */
  reply?: ChatMessage | undefined
  old?: ChatMessage | undefined
}

/**
 * One session as a page shows it: its messages, the reply while it grows, and what can be done. It tells its listeners of every change.
 * What can be done never throws: `error` of the state says what went wrong.
 */
export class Conversation {
  readonly #connection: Connection
  readonly #options: ConversationOptions
  readonly #listeners = new Set<() => void>()
  #state: ConversationState
  #open: AbortController | undefined
  #loaded: Promise<void> = Promise.resolve()
  /** The message whose turn is running, when the service has stored it. */
  #asked: string | undefined
  #isStopWanted = false

  constructor(connection: Connection, options: ConversationOptions) {
    this.#connection = connection
    this.#options = options
    const { sessionId } = options
    this.#state = { sessionId, messages: [], status: sessionId === undefined ? 'ready' : 'loading', error: undefined }
  }

  /** The same object until something changes. */
  getState = (): ConversationState => this.#state

  /** Returns what ends it. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Reads the history, and takes up a turn that is running, as after a reload. Can be opened again after it was closed. */
  open(): void {
    this.close()
    this.#open = new AbortController()
    const { sessionId } = this.#state
    if (sessionId === undefined) this.#set({ messages: [], status: 'ready' })
    else this.#loaded = this.#load(sessionId, this.#open.signal)
  }

  /** Reads no more. A turn that is running goes on at the service. */
  close(): void {
    this.#open?.abort()
    this.#open = undefined
    this.#asked = undefined
    this.#isStopWanted = false
  }

  /** Sends a message and follows the reply. Does nothing while a turn is running. */
  send = async (message: string, more: Omit<SendMessageBody, 'message'> = {}): Promise<void> => {
    await this.#loaded
    const { status, messages: all } = this.#state
    if (status !== 'ready' || this.#open === undefined) return
    const { signal } = this.#open
    const last = all.at(-1)
    // The service continues a message that failed when it is sent again: it is not there twice.
    const isAgain = last?.role === 'USER' && last.turn === 'failed' && last.content === message
    const user: ChatMessage = { id: uuid(), role: 'USER', content: message, createdAt: new Date().toISOString(), turn: 'running' }
    const running = { before: isAgain ? all.slice(0, -1) : all, user }
    await this.#follow(signal, running, async () => {
      const sessionId = await this.#getSession(signal)
      const body = { ...this.#wishes(), ...more, message }
      return messages.stream(this.#connection, this.#options.agentId, sessionId, body, { signal })
    })
  }

  /** Has the last reply made anew. Where that fails it stays as it was. Does nothing while a turn is running. */
  regenerate = async (): Promise<void> => {
    await this.#loaded
    const { status, sessionId, messages: all } = this.#state
    const [user, old] = all.slice(-2)
    if (status !== 'ready' || this.#open === undefined || sessionId === undefined || user?.role !== 'USER' || old === undefined)
      return
    const { signal } = this.#open
    const reply: ChatMessage = { id: old.id, role: 'AI', content: '', createdAt: old.createdAt, turn: 'running' }
    await this.#follow(signal, { before: all.slice(0, -2), user, reply, old }, async () =>
      messages.streamRegenerate(this.#connection, this.#options.agentId, sessionId, old.id, this.#wishes(), { signal }),
    )
  }

  /** Stops the reply that is being written; what there is of it stays. */
  stop = async (): Promise<void> => {
    const { status, sessionId } = this.#state
    const asked = this.#asked
    this.#isStopWanted = status === 'waiting' && asked === undefined
    if (sessionId === undefined || asked === undefined) return
    await this.#try(() => messages.cancel(this.#connection, this.#options.agentId, sessionId, asked))
  }

  /** Says whether a reply was good. */
  rate = async (messageId: string, rating: Feedback['rating'], comment?: string): Promise<void> => {
    const { sessionId } = this.#state
    if (sessionId === undefined) return
    const body = { rating, comment }
    const answer = await this.#try(() => messages.rate(this.#connection, this.#options.agentId, sessionId, messageId, body))
    if (answer === undefined) return
    const { feedback } = answer
    this.#set({ messages: this.#state.messages.map((m) => (m.id === messageId ? { ...m, feedback } : m)) })
  }

  async #load(sessionId: string, signal: AbortSignal): Promise<void> {
    this.#set({ status: 'loading', error: undefined })
    const { agentId } = this.#options
    try {
      const history: ChatMessage[] = (await sessions.get(this.#connection, agentId, sessionId, { signal })).messages
      const last = history.at(-1)
      if (last === undefined) return this.#set({ messages: [], status: 'ready' })
      const { message } = await messages.get(this.#connection, agentId, sessionId, last.id, undefined, { signal })
      const all = [...history.slice(0, -1), toShown(message)]
      const at = all.findLastIndex(({ role }) => role === 'USER')
      const user = all[at]
      if (message.turn !== 'running' || user === undefined) return this.#set({ messages: all, status: 'ready' })
      const old = all[at + 1]
      const running = { before: all.slice(0, at), user, reply: old, old }
      this.#asked = user.id
      void this.#follow(signal, running, async () => messages.resume(this.#connection, agentId, sessionId, user.id, { signal }))
    } catch (error) {
      if (!signal.aborted) this.#set({ status: 'ready', error: toError(error) })
    }
  }

  /** Shows a turn while it runs, to its end. */
  async #follow(signal: AbortSignal, { before, user, reply, old }: Running, start: () => Promise<TurnStream>): Promise<void> {
    const given = user
    const show = (status: ConversationState['status'], error?: ReparteeError) =>
      this.#set({ messages: [...before, user, ...(reply === undefined ? [] : [reply])], status, error })
    show('waiting')
    try {
      for await (const event of await start()) {
        if (event.type === 'turn.started') {
          user = { ...event.userMessage, turn: 'running' }
          reply = reply && { ...reply, content: '' }
          this.#asked = user.id
          show('waiting')
          if (this.#isStopWanted) void this.stop()
        } else if (event.type === 'message.delta') {
          reply ??= { id: `reply-to-${user.id}`, role: 'AI', content: '', createdAt: new Date().toISOString(), turn: 'running' }
          reply = { ...reply, content: reply.content + event.text }
          show('streaming')
        } else {
          user = event.answer.userMessage
          reply = toReply(event.answer)
        }
      }
      this.#endTurn()
      show('ready')
    } catch (thrown) {
      if (signal.aborted) return
      const error = toError(thrown)
      const isCancelled = error.code === 'turn_cancelled'
      user = old === undefined ? { ...user, turn: isCancelled ? 'cancelled' : 'failed' } : given
      reply = old
      this.#endTurn()
      show('ready', isCancelled ? undefined : error)
    }
  }

  #endTurn(): void {
    this.#asked = undefined
    this.#isStopWanted = false
  }

  async #getSession(signal: AbortSignal): Promise<string> {
    const { sessionId } = this.#state
    if (sessionId !== undefined) return sessionId
    const { session } = await sessions.create(this.#connection, this.#options.agentId, this.#options.create, { signal })
    this.#set({ sessionId: session.id })
    return session.id
  }

  #wishes(): Omit<SendMessageBody, 'message'> {
    const { include = ['sources'], format } = this.#options
    return { include, format }
  }

  async #try<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#set({ error: toError(error) })
      return undefined
    }
  }

  #set(changes: Partial<ConversationState>): void {
    this.#state = { ...this.#state, ...changes }
    for (const listener of this.#listeners) listener()
  }
}

const toError = (error: unknown): ReparteeError =>
  error instanceof ReparteeError
    ? error
    : new ReparteeError('connection_failed', 'Something went wrong in this page.', { cause: error })

const toShown = ({ type: _, ...message }: MessageDetail): ChatMessage => message

const toReply = ({ aiMessage: { model: _, ...message }, sources, followUps }: Answer): ChatMessage => ({
  ...message,
  ...(sources === undefined ? {} : { sources }),
  ...(followUps === undefined ? {} : { followUps }),
})
