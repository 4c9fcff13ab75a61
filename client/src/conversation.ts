import * as messages from './api/messages.ts'
import * as sessions from './api/sessions.ts'
import { pause } from './cancel.ts'
import type { Connection } from './connection.ts'
import {
  type ChatMessage,
  type ConversationOptions,
  type ConversationState,
  type MessageOptions,
  newMessage,
  toDetails,
  toListed,
  toReply,
} from './conversation-state.ts'
import { isConnectionLost, ReparteeError } from './errors.ts'
import { delayMs } from './request.ts'
import type { TurnEvent, TurnStream } from './turn.ts'
import type { Feedback, MessageDetail, TurnState } from './types.ts'
import { uuid } from './uuid.ts'

/** A message being sent. A retry repeats the same request, so the service stores the message once even after a lost connection. */
interface Sending {
  body: MessageOptions & { message: string }
  key: string
  /** The id of the message, once the service has stored it. */
  messageId?: string | undefined
  /** The result is unknown, because the connection was lost. */
  isLost?: boolean
}

/** The running turn. */
interface Turn {
  user: ChatMessage
  /** The partial reply. */
  reply?: ChatMessage | undefined
  /** The previous reply, if it is being regenerated. */
  old?: ChatMessage | undefined
  /** Undefined if the turn sends no message. */
  sending?: Sending
  /** Sends the request that starts the turn. Undefined if it is running. */
  start?: (signal: AbortSignal) => TurnStream | Promise<TurnStream>
  /** The id of the user's message, once the service has stored it. */
  messageId?: string | undefined
  lastEventId?: string
  abort: AbortController
}

/**
 * A session for display: its messages, the growing reply and the actions. It notifies listeners of every change.
 * The actions never throw; `state.error` says what failed.
 */
export class Conversation {
  /** Options of the next requests. They can be changed at any time. */
  readonly options: ConversationOptions
  readonly #connection: Connection
  readonly #listeners = new Set<() => void>()
  #state: ConversationState
  #open: AbortController | undefined
  #loaded: Promise<void> = Promise.resolve()
  #turn: Turn | undefined
  /** The last attempts to send failed messages, by the key of the message. */
  readonly #failed = new Map<string, Sending>()

  constructor(connection: Connection, options: ConversationOptions) {
    this.#connection = connection
    this.options = { ...options }
    const { sessionId, unsent } = options
    const initial = { session: undefined, messages: [], isLoaded: false, isBroken: false, isStopping: false, error: undefined }
    this.#state = { ...initial, sessionId, unsent, status: sessionId === undefined ? 'ready' : 'loading' }
  }

  /** Returns the same object until the state changes. */
  getState = (): ConversationState => this.#state

  /** Returns the unsubscribe function. */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Loads the history and resumes a running turn, for example after a reload. A closed conversation can be opened again.
   * Resolves when the history is loaded, or `state.error` says why it is not.
   */
  open(): Promise<void> {
    this.close()
    this.#open = new AbortController()
    this.#failed.clear()
    const { sessionId } = this.#state
    const idle = { isLoaded: sessionId === undefined, isBroken: false, isStopping: false, error: undefined }
    if (sessionId === undefined) this.#set({ ...idle, messages: [], status: 'ready' })
    else this.#set({ ...idle, status: 'loading' })
    this.#loaded = sessionId === undefined ? Promise.resolve() : this.#load(sessionId, this.#open.signal)
    return this.#loaded
  }

  /** Stops reading. A running turn continues on the service. */
  close(): void {
    this.#open?.abort()
    this.#open = undefined
    this.#turn?.abort.abort()
    this.#turn = undefined
  }

  /** Opens another session. Without `sessionId`, the next message creates one. */
  reset(sessionId?: string): Promise<void> {
    this.#state = {
      ...this.#state,
      sessionId,
      session: undefined,
      messages: [],
      ...(sessionId === undefined && { unsent: undefined }),
    }
    return this.open()
  }

  /** Sends a message and follows the reply. Does nothing while a turn is running. */
  send = async (message: string, more: MessageOptions = {}): Promise<void> => {
    if (this.#state.status === 'loading') await this.#loaded
    const last = this.#state.messages.at(-1)
    // The service continues a failed message that is sent again, so the message must not appear twice.
    const isAgain = last?.role === 'USER' && last.turn === 'failed' && last.content === message
    await this.#send(isAgain ? last : newMessage(message), { ...this.#replyOptions(), ...more, message })
  }

  /** Sends a failed message again: as the same message if it is the last one or its result is unknown, or else as a new message. */
  retry = async (messageId: string): Promise<void> => {
    const all = this.#state.messages
    const message = all.find(({ id }) => id === messageId)
    if (message?.turn !== 'failed') return
    const { body = { ...this.#replyOptions(), message: message.content }, isLost } = this.#failed.get(message.key) ?? {}
    await this.#send(isLost || message === all.at(-1) ? message : newMessage(message.content), body)
  }

  /** Regenerates the last reply. If that fails, the old reply stays. Does nothing while a turn is running. */
  regenerate = async (): Promise<void> => {
    if (this.#state.status === 'loading') await this.#loaded
    const { messages: all } = this.#state
    const [user, old] = all.slice(-2)
    if (!this.#isReady() || user?.role !== 'USER' || old?.role !== 'AI') return
    const { id, key, createdAt } = old
    const reply: ChatMessage = { id, key, role: 'AI', content: '', createdAt, turn: 'running' }
    const [body, idempotencyKey] = [this.#replyOptions(), uuid()]
    const start = (signal: AbortSignal) =>
      messages.streamRegenerate(this.#connection, { ...this.#idsOf(id), ...body }, { signal, idempotencyKey })
    await this.#run({ user, reply, old, start })
  }

  /** Stops the reply that is being generated. The text generated so far stays. */
  stop = async (): Promise<void> => {
    const turn = this.#turn
    if (turn === undefined || this.#state.isStopping) return
    this.#set({ isStopping: true })
    if (turn.messageId !== undefined) await this.#cancel(turn.messageId)
    else if (this.#state.isBroken || isOffline()) turn.abort.abort()
  }

  /** Sets the feedback on a reply. */
  rate = async (messageId: string, rating: Feedback['rating'], comment?: string): Promise<void> => {
    const { sessionId, messages: all } = this.#state
    if (sessionId === undefined) return
    const before = all.find(({ id }) => id === messageId)?.feedback
    const feedback = { rating, ...(comment === undefined ? {} : { comment }) }
    this.#change(messageId, { feedback })
    try {
      const answer = await messages.rate(this.#connection, { ...this.#idsOf(messageId), ...feedback })
      this.#change(messageId, { feedback: answer.feedback })
    } catch (error) {
      this.#change(messageId, { feedback: before })
      this.#set({ error: toError(error) })
    }
  }

  /** Reads the sources, the feedback and the format of a reply from the history. If that fails, a later call tries again. */
  loadDetails = async (messageId: string): Promise<void> => {
    const { sessionId, messages: all } = this.#state
    if (sessionId === undefined || !all.find(({ id }) => id === messageId)?.needsDetails) return
    this.#change(messageId, { needsDetails: false })
    try {
      this.#change(messageId, toDetails(await this.#detailOf(messageId)))
    } catch {
      this.#change(messageId, { needsDetails: true })
    }
  }

  async #load(sessionId: string, signal: AbortSignal): Promise<void> {
    try {
      const { turn, ...history } = await this.#read(sessionId, signal)
      const at = history.messages.findLastIndex(({ role }) => role === 'USER')
      const [user, old] = history.messages.slice(at)
      const isRunning = turn === 'running' && user?.role === 'USER'
      const unsent = user?.content === this.#state.unsent ? undefined : this.#state.unsent
      this.#set({ ...history, isLoaded: true, status: isRunning ? 'waiting' : 'ready', unsent })
      if (isRunning) void this.#run({ user, reply: old, old, messageId: user.id })
    } catch (error) {
      if (!signal.aborted) this.#set({ status: 'ready', error: toError(error) })
    }
  }

  /** Reads the history, with the details of its last message and the state of its turn. */
  async #read(
    sessionId: string,
    signal: AbortSignal,
    isAgain = false,
  ): Promise<Pick<ConversationState, 'session' | 'messages'> & { turn?: TurnState }> {
    const { session, messages: listed } = await sessions.get(
      this.#connection,
      { agentId: this.options.agentId, sessionId },
      { signal },
    )
    const all = listed.map(toListed)
    const last = all.pop()
    if (last === undefined) return { session, messages: all }
    const detail = await this.#detailOf(last.id, signal)
    // The reply arrived after the history was read. An imported history can end with a message that has no reply.
    if (detail.role === 'USER' && detail.turn === 'done' && !isAgain) return this.#read(sessionId, signal, true)
    signal.throwIfAborted()
    return { session, messages: [...all, { ...last, ...toDetails(detail) }], turn: detail.turn }
  }

  async #detailOf(messageId: string, signal?: AbortSignal): Promise<MessageDetail> {
    return (await messages.get(this.#connection, this.#idsOf(messageId), { signal })).message
  }

  #idsOf(messageId: string) {
    return { agentId: this.options.agentId, sessionId: this.#state.sessionId!, messageId }
  }

  async #send(user: ChatMessage, body: Sending['body']): Promise<void> {
    if (!this.#isReady()) return
    const failed = this.#failed.get(user.key)
    const sending: Sending = failed?.isLost ? failed : { body, key: uuid() }
    const { messageId } = sending
    const start = async (signal: AbortSignal) => {
      const sessionId = this.#state.sessionId ?? (await this.#newSession(sending, signal))
      const options = { signal, idempotencyKey: sending.key }
      return messages.stream(this.#connection, { agentId: this.options.agentId, sessionId, ...sending.body }, options)
    }
    if (messageId === undefined) this.#state = { ...this.#state, unsent: user.content }
    await this.#run({ user: { ...user, turn: 'running' }, sending, start, messageId })
  }

  async #newSession({ key }: Sending, signal: AbortSignal): Promise<string> {
    const { agentId, create } = this.options
    const options = { signal, idempotencyKey: `${key}-session` }
    const { session } = await sessions.create(this.#connection, { agentId, ...create }, options)
    this.#set({ sessionId: session.id, session, isLoaded: true })
    return session.id
  }

  /** Shows a turn until it ends. */
  async #run(input: Omit<Turn, 'abort'>): Promise<void> {
    const { old, sending } = input
    const user = { ...input.user, error: undefined }
    const turn: Turn = { ...input, user, abort: new AbortController() }
    this.#turn = turn
    this.#show(turn, { status: 'waiting', isStopping: false, error: undefined })
    let error: ReparteeError | undefined
    try {
      await this.#follow(turn)
    } catch (thrown) {
      error = toError(thrown)
    }
    // The conversation was closed.
    if (this.#turn !== turn) return
    this.#turn = undefined
    const { isStopping } = this.#state
    if (sending !== undefined) this.#failed.delete(user.key)
    if (error !== undefined) {
      if (sending !== undefined)
        this.#failed.set(user.key, { ...sending, messageId: turn.messageId, isLost: isConnectionLost(error) })
      const isCancelled = error.code === 'turn_cancelled' || (isStopping && (isConnectionLost(error) || error.code === 'aborted'))
      if (isCancelled) error = undefined
      turn.reply = old
      turn.user = { ...(old === undefined ? { ...turn.user, turn: isCancelled ? 'cancelled' : 'failed' } : user), error }
    } else if (isStopping && turn.reply !== undefined) turn.reply = { ...turn.reply, turn: 'cancelled' }
    this.#show(turn, { status: 'ready', isStopping: false, error })
  }

  /** Reads the events of a turn until it ends, and resumes it after each lost connection. */
  async #follow(turn: Turn): Promise<void> {
    const { signal } = turn.abort
    const { reconnects = 0 } = this.options
    for (let breaks = 0, isReplaced = false; ; breaks++)
      try {
        for await (const event of await this.#stream(turn)) {
          breaks = 0
          this.#apply(turn, event)
          if (event.type === 'turn.completed') return
        }
        throw new ReparteeError('connection_failed', 'The stream of the reply ended before the reply did.')
      } catch (error) {
        if (isGone(error) && turn.sending !== undefined && turn.messageId === undefined && !isReplaced) {
          // The session was deleted, so the message starts another one.
          isReplaced = true
          this.#set({ sessionId: undefined, session: undefined })
          continue
        }
        if (isOffline()) breaks = 0
        if (!isConnectionLost(error) || signal.aborted || this.#state.isStopping || breaks >= reconnects) throw error
        this.#set({ isBroken: true })
        await pause(delayMs(this.#connection, breaks + 1), signal)
      }
  }

  #stream({ start, messageId, lastEventId, abort: { signal } }: Turn): TurnStream | Promise<TurnStream> {
    if (messageId === undefined) return start!(signal)
    return messages.resume(this.#connection, { ...this.#idsOf(messageId), lastEventId }, { signal })
  }

  #apply(turn: Turn, event: TurnEvent): void {
    const { user, reply, old, messageId } = turn
    const { key } = reply ?? { key: `reply-to-${user.key}` }
    turn.lastEventId = event.id
    if (event.type === 'turn.started') {
      const { id } = event.userMessage
      turn.messageId = id
      turn.user = { ...user, ...event.userMessage, turn: 'running' }
      turn.reply = reply && { ...reply, content: '' }
      this.#show(turn, { status: 'waiting', session: event.chatSession, unsent: undefined })
      if (this.#state.isStopping && messageId === undefined) void this.#cancel(id)
    } else if (event.type === 'message.delta') {
      const { id, createdAt, content } = reply ?? { id: key, createdAt: new Date().toISOString(), content: '' }
      turn.reply = { id, key, role: 'AI', content: content + event.text, createdAt, turn: 'running' }
      this.#show(turn, { status: 'streaming' })
    } else {
      const { chatSession: session, userMessage } = event.answer
      turn.user = { ...userMessage, key: user.key }
      const generation = old === undefined ? 1 : (old.generation ?? 1) + 1
      turn.reply = { ...toReply(event.answer), key, format: this.options.format, generation }
      this.#state = { ...this.#state, session, unsent: undefined }
    }
  }

  async #cancel(messageId: string): Promise<void> {
    try {
      await messages.cancel(this.#connection, this.#idsOf(messageId))
    } catch (error) {
      if (this.#turn?.messageId === messageId) this.#set({ isStopping: false, error: toError(error) })
    }
  }

  #isReady(): boolean {
    return this.#state.status === 'ready' && this.#open !== undefined
  }

  #replyOptions(): MessageOptions {
    const { include = ['sources'], format, additionalContext } = this.options
    return { include, format, additionalContext }
  }

  /** Replaces the messages of a turn. A new message comes last. */
  #show({ user, reply }: Turn, changes: Partial<ConversationState>): void {
    const all = this.#state.messages
    const at = all.findLastIndex(({ key }) => key === user.key)
    const [before, after] = at === -1 ? [all, []] : [all.slice(0, at), all.slice(all[at + 1]?.role === 'AI' ? at + 2 : at + 1)]
    this.#set({ messages: [...before, user, ...(reply === undefined ? [] : [reply]), ...after], isBroken: false, ...changes })
  }

  #change(messageId: string, change: Partial<ChatMessage>): void {
    this.#set({
      messages: this.#state.messages.map((message) => (message.id === messageId ? { ...message, ...change } : message)),
    })
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

const isGone = (error: unknown): boolean => error instanceof ReparteeError && error.code === 'session_not_found'

const isOffline = (): boolean => (globalThis as { navigator?: { onLine?: boolean } }).navigator?.onLine === false

const toError = (error: unknown): ReparteeError =>
  error instanceof ReparteeError
    ? error
    : new ReparteeError('connection_failed', 'Something went wrong in this page.', { cause: error })
