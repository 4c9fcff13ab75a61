import * as messages from './api/messages.ts'
import * as sessions from './api/sessions.ts'
import type { Connection } from './connection.ts'
import { ReparteeError } from './errors.ts'
import type { TurnStream } from './turn.ts'
import type {
  Answer,
  CitedSource,
  CreateSessionInput,
  Feedback,
  FollowUp,
  MessageDetail,
  Role,
  SendMessageInput,
  TurnState,
} from './types.ts'
import { uuid } from './uuid.ts'

export interface ConversationOptions {
  agentId: string
  /** Default: a session is created with the first message. */
  sessionId?: string | undefined
  /** Options for a session that this conversation creates, such as its name and user. */
  create?: Omit<CreateSessionInput, 'agentId'> | undefined
  /** Extra data to request with each reply. Default: sources. */
  include?: SendMessageInput['include']
  format?: SendMessageInput['format']
}

/** A message for display. */
export interface ChatMessage {
  /** Changes once for a message that was just sent, when the service assigns its id. */
  id: string
  role: Role
  /** The partial text while a reply is being generated. */
  content: string
  createdAt: string
  /** State of the last turn: `running` while the reply is generated; `failed` if there is no reply and the same text can be sent again. */
  turn?: TurnState
  sources?: CitedSource[]
  followUps?: FollowUp[]
  feedback?: Feedback
}

export interface ConversationState {
  sessionId: string | undefined
  messages: readonly ChatMessage[]
  /** `waiting`: a message was sent and no reply text has arrived. A message can be sent in state `ready`. */
  status: 'loading' | 'ready' | 'waiting' | 'streaming'
  /** The last error. The next action clears it. */
  error: ReparteeError | undefined
}

/** A message being sent. A retry repeats the same request, so the service stores the message once even after a lost connection. */
interface Sending {
  body: Omit<SendMessageInput, 'agentId' | 'sessionId'>
  key: string
}

/** The messages of a running turn, and the messages before it. */
interface Running {
  before: readonly ChatMessage[]
  user: ChatMessage
  /** The partial reply. `old` is the previous reply if it is being regenerated. */
  reply?: ChatMessage | undefined
  old?: ChatMessage | undefined
}

/**
 * A session for display: its messages, the growing reply and the actions. It notifies listeners of every change.
 * The actions never throw; `state.error` says what failed.
 */
export class Conversation {
  readonly #connection: Connection
  readonly #options: ConversationOptions
  readonly #listeners = new Set<() => void>()
  #state: ConversationState
  #open: AbortController | undefined
  #loaded: Promise<void> = Promise.resolve()
  /** Id of the message whose turn is running, once the service has stored it. */
  #asked: string | undefined
  #isStopWanted = false
  /** A message with an unknown result, because the connection was lost. */
  #lost: Sending | undefined

  constructor(connection: Connection, options: ConversationOptions) {
    this.#connection = connection
    this.#options = options
    const { sessionId } = options
    this.#state = { sessionId, messages: [], status: sessionId === undefined ? 'ready' : 'loading', error: undefined }
  }

  /** Returns the same object until the state changes. */
  getState = (): ConversationState => this.#state

  /** Returns the unsubscribe function. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Loads the history and resumes a running turn, for example after a reload. A closed conversation can be opened again. */
  open(): void {
    this.close()
    this.#open = new AbortController()
    this.#lost = undefined
    const { sessionId } = this.#state
    if (sessionId === undefined) this.#set({ messages: [], status: 'ready' })
    else this.#loaded = this.#load(sessionId, this.#open.signal)
  }

  /** Stops reading. A running turn continues on the service. */
  close(): void {
    this.#open?.abort()
    this.#open = undefined
    this.#asked = undefined
    this.#isStopWanted = false
  }

  /** Sends a message and follows the reply. Does nothing while a turn is running. */
  send = async (message: string, more: Omit<Sending['body'], 'message'> = {}): Promise<void> => {
    await this.#loaded
    const { status, messages: all } = this.#state
    if (status !== 'ready' || this.#open === undefined) return
    const { signal } = this.#open
    const last = all.at(-1)
    // The service continues a failed message that is sent again, so the message must not appear twice.
    const isAgain = last?.role === 'USER' && last.turn === 'failed' && last.content === message
    const user: ChatMessage = { id: uuid(), role: 'USER', content: message, createdAt: new Date().toISOString(), turn: 'running' }
    const running = { before: isAgain ? all.slice(0, -1) : all, user }
    const lost = isAgain ? this.#lost : undefined
    const sending = lost ?? { body: { ...this.#wishes(), ...more, message }, key: uuid() }
    this.#lost = undefined
    const error = await this.#follow(signal, running, async () => {
      const sessionId = await this.#getSession(sending, signal)
      const options = { signal, idempotencyKey: sending.key }
      return messages.stream(this.#connection, { agentId: this.#options.agentId, sessionId, ...sending.body }, options)
    })
    if (error?.code === 'connection_failed' || error?.code === 'timeout') this.#lost = sending
  }

  /** Regenerates the last reply. If that fails, the old reply stays. Does nothing while a turn is running. */
  regenerate = async (): Promise<void> => {
    await this.#loaded
    const { status, sessionId, messages: all } = this.#state
    const [user, old] = all.slice(-2)
    if (status !== 'ready' || this.#open === undefined || sessionId === undefined || user?.role !== 'USER' || old === undefined)
      return
    const { signal } = this.#open
    const reply: ChatMessage = { id: old.id, role: 'AI', content: '', createdAt: old.createdAt, turn: 'running' }
    await this.#follow(signal, { before: all.slice(0, -2), user, reply, old }, async () =>
      messages.streamRegenerate(
        this.#connection,
        { agentId: this.#options.agentId, sessionId, messageId: old.id, ...this.#wishes() },
        { signal },
      ),
    )
  }

  /** Stops the reply that is being generated. The text generated so far stays. */
  stop = async (): Promise<void> => {
    const { status, sessionId } = this.#state
    const asked = this.#asked
    this.#isStopWanted = status === 'waiting' && asked === undefined
    if (sessionId === undefined || asked === undefined) return
    await this.#try(() => messages.cancel(this.#connection, { agentId: this.#options.agentId, sessionId, messageId: asked }))
  }

  /** Sets the feedback on a reply. */
  rate = async (messageId: string, rating: Feedback['rating'], comment?: string): Promise<void> => {
    const { sessionId } = this.#state
    if (sessionId === undefined) return
    const body = { rating, comment }
    const answer = await this.#try(() =>
      messages.rate(this.#connection, { agentId: this.#options.agentId, sessionId, messageId, ...body }),
    )
    if (answer === undefined) return
    const { feedback } = answer
    this.#set({ messages: this.#state.messages.map((m) => (m.id === messageId ? { ...m, feedback } : m)) })
  }

  async #load(sessionId: string, signal: AbortSignal): Promise<void> {
    this.#set({ status: 'loading', error: undefined })
    const { agentId } = this.#options
    try {
      const { history, message } = await this.#read(sessionId, signal)
      if (message === undefined) return this.#set({ messages: [], status: 'ready' })
      const all = [...history.slice(0, -1), toShown(message)]
      const at = all.findLastIndex(({ role }) => role === 'USER')
      const user = all[at]
      if (message.turn !== 'running' || user === undefined) return this.#set({ messages: all, status: 'ready' })
      const old = all[at + 1]
      const running = { before: all.slice(0, at), user, reply: old, old }
      this.#asked = user.id
      void this.#follow(signal, running, async () =>
        messages.resume(this.#connection, { agentId, sessionId, messageId: user.id }, { signal }),
      )
    } catch (error) {
      if (!signal.aborted) this.#set({ status: 'ready', error: toError(error) })
    }
  }

  /** Reads the history and the details of its last message. */
  async #read(
    sessionId: string,
    signal: AbortSignal,
    isAgain = false,
  ): Promise<{ history: ChatMessage[]; message?: MessageDetail }> {
    const { agentId } = this.#options
    const history = (await sessions.get(this.#connection, { agentId, sessionId }, { signal })).messages
    const last = history.at(-1)
    if (last === undefined) return { history }
    const { message } = await messages.get(this.#connection, { agentId, sessionId, messageId: last.id }, { signal })
    // The reply arrived after the history was read. An imported history can end with a message that has no reply.
    if (message.role === 'USER' && message.turn === 'done' && !isAgain) return this.#read(sessionId, signal, true)
    return { history, message }
  }

  /** Shows a turn until it ends. Resolves to its error, if it failed. */
  async #follow(
    signal: AbortSignal,
    { before, user, reply, old }: Running,
    start: () => Promise<TurnStream>,
  ): Promise<ReparteeError | undefined> {
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
      // The conversation was closed after the last event had arrived.
      if (signal.aborted) return undefined
      this.#endTurn()
      show('ready')
      return undefined
    } catch (thrown) {
      if (signal.aborted) return undefined
      const error = toError(thrown)
      const isCancelled = error.code === 'turn_cancelled'
      user = old === undefined ? { ...user, turn: isCancelled ? 'cancelled' : 'failed' } : given
      reply = old
      this.#endTurn()
      show('ready', isCancelled ? undefined : error)
      return error
    }
  }

  #endTurn(): void {
    this.#asked = undefined
    this.#isStopWanted = false
  }

  async #getSession({ key }: Sending, signal: AbortSignal): Promise<string> {
    const { sessionId } = this.#state
    if (sessionId !== undefined) return sessionId
    const { agentId, create } = this.#options
    const { session } = await sessions.create(
      this.#connection,
      { agentId, ...create },
      { signal, idempotencyKey: `${key}-session` },
    )
    this.#set({ sessionId: session.id })
    return session.id
  }

  #wishes(): Omit<Sending['body'], 'message'> {
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
    for (const listener of this.#listeners)
      try {
        listener()
      } catch (error) {
        // Reports the error as the platform does for event listeners. The other listeners and the turn continue.
        const { reportError = console.error } = globalThis as { reportError?: (error: unknown) => void }
        reportError(error)
      }
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
