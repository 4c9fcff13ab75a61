import { type Answer, type Connection, type Message, messages, ReparteeError, sessions } from 'repartee-client'
import { type Entry, newReply, type Question, type Reply } from './entries.ts'
import type { Memory } from './memory.ts'
import { isBroken, runTurn, type Turn } from './turn.ts'

/** Callbacks of a conversation to its view. */
export interface Listener {
  added(entry: Entry): void
  changed(entry: Entry): void
  /** All entries were replaced. */
  replaced(): void
  /** A turn started or ended. */
  busy(isBusy: boolean): void
  /** A reply is complete. */
  finished(reply: Reply): void
  broken(isBroken: boolean): void
  /** A message that was never confirmed. Only its text is known. */
  unsent(text: string): void
  failed(error: ReparteeError): void
}

interface Running {
  turn: Turn
  question: Question
  reply: Reply
  abort: AbortController
  isStopped: boolean
}

/** A conversation with an agent: its entries and the running turn. Its first message creates the session. */
export class Conversation {
  entries: Entry[] = []
  readonly #connection: Connection
  readonly #agentId: string
  readonly #memory: Memory
  readonly #listener: Listener
  /** The turns of failed replies. */
  readonly #turns = new WeakMap<Reply, Turn>()
  #running: Running | undefined
  #restored: Promise<void> | undefined
  #isRestored = false
  /** Aborts loading the previous conversation. */
  #reading = new AbortController()
  readonly #unwatch: () => void

  constructor(connection: Connection, agentId: string, memory: Memory, listener: Listener) {
    this.#connection = connection
    this.#agentId = agentId
    this.#memory = memory
    this.#listener = listener
    this.#unwatch = memory.watch(() => this.#catchUp())
  }

  get isBusy(): boolean {
    return this.#running !== undefined
  }

  /** Whether a stored conversation is not loaded yet. */
  get isLoading(): boolean {
    return this.sessionId !== undefined && !this.#isRestored
  }

  get sessionId(): string | undefined {
    return this.#memory.kept.session
  }

  /** Restores the conversation from before the page load. Rejects if the service is unreachable; a later call tries again. */
  restore(): Promise<void> {
    const { signal } = this.#reading
    this.#restored ??= this.#restore(signal).catch((error: unknown) => {
      // Another conversation has started, or the chat was removed.
      if (signal.aborted) return
      this.#restored = undefined
      throw error
    })
    return this.#restored
  }

  /** Sends a message. Returns false without sending if a turn is running. */
  send(text: string, context?: string): boolean {
    if (this.isBusy) return false
    const question: Question = { role: 'user', text }
    this.#add(question)
    this.#memory.keep({ unsent: text })
    this.#run(question, this.#add(newReply()), toTurn(text, context))
    return true
  }

  /** Retries a failed reply. */
  retry(reply: Reply): void {
    const question = this.entries[this.entries.indexOf(reply) - 1]
    if (this.isBusy || question?.role !== 'user') return
    const before = this.#turns.get(reply) ?? toTurn(question.text)
    const isLast = reply === this.entries.at(-1)
    // The service continues only the last message. An earlier one is sent as a new message.
    if (!isLast && !isBroken(reply.error)) return void this.send(before.text, before.context)
    // After a lost connection the turn may still run, so it is resumed. After a failure, the same text continues its message.
    const turn = isBroken(reply.error) ? before : toTurn(before.text, before.context)
    this.#change(reply, { state: 'waiting', error: undefined })
    this.#run(question, reply, turn)
  }

  /** Stops the reply. The text generated so far stays. */
  stop(): void {
    const running = this.#running
    if (running === undefined || running.isStopped) return
    running.isStopped = true
    if (running.turn.messageId !== undefined) this.#cancel(running)
    else if (!navigator.onLine) running.abort.abort()
  }

  rate(reply: Reply, rating: 'up' | 'down'): void {
    const { sessionId } = this
    const before = reply.rating
    if (sessionId === undefined || reply.id === undefined || rating === before) return
    this.#change(reply, { rating })
    messages
      .rate(this.#connection, { agentId: this.#agentId, sessionId, messageId: reply.id, rating })
      .catch((error: ReparteeError) => {
        this.#change(reply, { rating: before })
        this.#listener.failed(error)
      })
  }

  /** Loads reply details that the history lacks: sources, format, feedback and, for the last reply, suggested follow-ups. */
  async complete(reply: Reply): Promise<void> {
    const { sessionId } = this
    if (!reply.isBare || reply.id === undefined || sessionId === undefined) return
    reply.isBare = false
    try {
      const { message } = await messages.get(this.#connection, { agentId: this.#agentId, sessionId, messageId: reply.id })
      const { format, sources = [], followUps = [], feedback } = message
      this.#change(reply, { format, sources, followUps, rating: feedback?.rating })
    } catch {
      reply.isBare = true
    }
  }

  /** Starts a new conversation. The service still stores the old session. */
  reset(): void {
    this.#leave()
    this.#memory.keep({ session: undefined, unsent: undefined })
    this.#restored = Promise.resolve()
    this.#show([])
  }

  /** Stops listening. The service finishes a running turn. */
  close(): void {
    this.#leave()
    this.#unwatch()
  }

  #leave(): void {
    this.#reading.abort()
    this.#reading = new AbortController()
    const running = this.#running
    this.#running = undefined
    running?.abort.abort()
    if (running !== undefined) this.#listener.busy(false)
  }

  /** Shows messages from another tab, if this tab has already loaded the conversation. */
  #catchUp(): void {
    if (this.#restored === undefined || this.isBusy) return
    this.#leave()
    this.#restored = undefined
    if (this.sessionId === undefined) this.#show([])
    // If loading fails now, a reload shows the messages.
    this.restore().catch(() => {})
  }

  async #restore(signal: AbortSignal): Promise<void> {
    const { session, unsent } = this.#memory.kept
    if (unsent !== undefined) this.#memory.keep({ unsent: undefined })
    if (session !== undefined) {
      try {
        await this.#load(session, signal)
      } catch (error) {
        if (signal.aborted) throw error
        if (!isGone(error)) {
          this.#memory.keep({ unsent })
          throw error
        }
        this.#memory.keep({ session: undefined })
        this.#isRestored = false
      }
    }
    if (!this.#isRestored) this.#show([])
    const last = this.entries.findLast(({ role }) => role === 'user') as Question | undefined
    if (unsent !== undefined && last?.text !== unsent) this.#listener.unsent(unsent)
  }

  async #load(session: string, signal: AbortSignal): Promise<void> {
    const history: Message[] = []
    const read = async (cursor?: string) => {
      for await (const message of messages.iterate(
        this.#connection,
        { agentId: this.#agentId, sessionId: session, cursor },
        { signal },
      ))
        history.push(message)
    }
    await read()
    const last = history.at(-1)
    const state = last?.role === 'USER' ? await this.#stateOf(session, last.id, signal) : 'done'
    // The reply arrived after the history was read.
    if (last?.role === 'USER' && state === 'done') await read(last.id)
    signal.throwIfAborted()
    this.#show(history.map(toEntry))
    const question = this.entries.at(-1)
    if (question?.role !== 'user') return
    if (state === 'running') this.#run(question, this.#add(newReply()), { ...toTurn(question.text), messageId: question.id })
    if (state === 'cancelled') this.#add(newReply('stopped'))
    if (state === 'failed')
      this.#add({
        ...newReply('failed'),
        error: new ReparteeError('model_failed', 'The reply failed before the page was loaded.'),
      })
  }

  async #stateOf(session: string, messageId: string, signal: AbortSignal) {
    return (await messages.get(this.#connection, { agentId: this.#agentId, sessionId: session, messageId }, { signal })).message
      .turn
  }

  async #run(question: Question, reply: Reply, turn: Turn): Promise<void> {
    const running: Running = { turn, question, reply, abort: new AbortController(), isStopped: false }
    this.#running = running
    this.#listener.busy(true)
    let finished: Reply | undefined
    try {
      const answer = await this.#runIn(running)
      if (this.#running === running) finished = this.#finish(running, answer)
    } catch (thrown) {
      if (this.#running === running) this.#fail(running, toError(thrown))
    }
    if (this.#running !== running) return
    this.#running = undefined
    this.#listener.broken(false)
    this.#listener.busy(false)
    if (finished !== undefined) this.#listener.finished(finished)
  }

  async #runIn(running: Running): Promise<Answer> {
    const { turn, question, reply } = running
    const { signal } = running.abort
    const news = {
      started: (messageId: string) => {
        // Notifies the other tabs.
        this.#memory.keep(question.id === undefined ? { unsent: undefined, session: this.sessionId } : { unsent: undefined })
        question.id = messageId
        if (running.isStopped) this.#cancel(running)
      },
      wrote: (text: string) => this.#change(reply, { state: text === '' ? 'waiting' : 'writing', text }),
      broken: (isBroken: boolean) => this.#running === running && this.#listener.broken(isBroken),
    }
    const place = async () => ({
      connection: this.#connection,
      agentId: this.#agentId,
      sessionId: this.sessionId ?? (await this.#newSession(turn, signal)),
    })
    try {
      return await runTurn(await place(), turn, news, signal)
    } catch (error) {
      if (!isGone(error) || turn.messageId !== undefined) throw error
      // The session was deleted, so the message starts another one.
      this.#memory.keep({ session: undefined })
      return runTurn(await place(), turn, news, signal)
    }
  }

  async #newSession(turn: Turn, signal: AbortSignal): Promise<string> {
    const { session } = await sessions.create(
      this.#connection,
      { agentId: this.#agentId },
      { idempotencyKey: `${turn.key}-s`, signal },
    )
    this.#memory.keep({ session: session.id })
    return session.id
  }

  #cancel(running: Running): void {
    const { messageId } = running.turn
    // If cancelling fails, the reply continues and can be stopped again.
    messages.cancel(this.#connection, { agentId: this.#agentId, sessionId: this.sessionId!, messageId: messageId! }).catch(() => {
      running.isStopped = false
    })
  }

  #finish({ question, reply, isStopped }: Running, { userMessage, aiMessage, sources = [], followUps = [] }: Answer): Reply {
    question.id = userMessage.id
    this.#memory.keep({ unsent: undefined })
    const state = isStopped ? 'stopped' : 'done'
    this.#change(reply, { id: aiMessage.id, state, text: '', content: aiMessage.content, format: 'html', sources, followUps })
    return reply
  }

  #fail({ reply, turn, isStopped }: Running, error: ReparteeError): void {
    this.#turns.set(reply, turn)
    const isFailure = !isStopped && error.code !== 'turn_cancelled'
    this.#change(reply, isFailure ? { state: 'failed', error } : { state: 'stopped' })
    if (isFailure) this.#listener.failed(error)
  }

  #show(entries: Entry[]): void {
    this.entries = entries
    this.#isRestored = true
    this.#listener.replaced()
  }

  #add<E extends Entry>(entry: E): E {
    this.entries.push(entry)
    this.#listener.added(entry)
    return entry
  }

  #change(reply: Reply, change: Partial<Reply>): void {
    Object.assign(reply, change)
    if (this.entries.includes(reply)) this.#listener.changed(reply)
  }
}

const toTurn = (text: string, context?: string): Turn => ({ text, context, key: newKey(), written: '' })

/** Returns a random key. `randomUUID` is not available in pages served over plain HTTP. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')

const isGone = (error: unknown): boolean => error instanceof ReparteeError && error.code === 'session_not_found'

const toError = (thrown: unknown): ReparteeError =>
  thrown instanceof ReparteeError ? thrown : new ReparteeError('internal_error', String(thrown), { cause: thrown })

const toEntry = ({ id, role, content }: Message): Entry =>
  role === 'USER' ? { role: 'user', id, text: content } : { ...newReply('done'), id, content, isBare: true }
