import { type Answer, type Repartee, ReparteeError, type SendMessageInput, type TurnEvent } from 'repartee-client'
import type { CitedSource, FollowUp, Trace, Usage } from '../../queries/replies.ts'
import { newUuid } from '../../queries/uuid.ts'
import { Pace } from '../../ui/pace.ts'

export type Format = 'markdown' | 'html'

/** Options of a message. */
export interface Wishes {
  format: Format
  additionalContext: string
  /** User of a new session; empty for a new user. */
  externalUserId: string
}

export interface Reply {
  id: string
  content: string
  createdAt: string
  model?: string
  followUps?: FollowUp[]
  sources?: CitedSource[]
  usage?: Usage
  trace?: Trace
  /** Read from the history: its sources and trace must be fetched. */
  isKept: boolean
  /** How often it was regenerated here. */
  made: number
}

/** A message of the user with its reply. */
export interface Turn {
  key: number
  text: string
  /** Id of the user's message, once it is stored. */
  messageId?: string
  /** `lost`: the stream is lost and will be resumed. `stopped`: there is no reply and no error. */
  state: 'sending' | 'replying' | 'lost' | 'done' | 'failed' | 'stopped'
  /** The partial reply, in Markdown. */
  growing: string
  isStopping: boolean
  reply?: Reply
  error?: unknown
}

export interface Talk {
  turns: readonly Turn[]
  session?: { id: string; name: string }
  /** The history is loading. */
  isLoading: boolean
  loadError?: unknown
}

const INCLUDE: SendMessageInput['include'] = ['sources', 'usage', 'trace']
/** Delays between attempts to resume a lost stream. The browser's `online` event ends a delay at once. */
const PAUSES_MS = [1_000, 2_000, 4_000, 8_000]

type Stream = AsyncIterable<TurnEvent>

export const isBusy = ({ state }: Turn) => state === 'sending' || state === 'replying' || state === 'lost'

let made = 0

/** A session in the playground. It continues while other pages are shown. */
export class Conversation {
  #talk: Talk
  #lastKey = 0
  /** Render pace of the running turn. */
  #pace = this.#newPace()
  #isOpened = false
  readonly #client: Repartee
  readonly #agentId: string
  readonly #listeners = new Set<() => void>()
  /** Unique among the conversations of this page. */
  readonly number = ++made
  /** Called as soon as a session is created. */
  onSession: (sessionId: string) => void = () => {}

  constructor(client: Repartee, agentId: string, sessionId?: string) {
    this.#client = client
    this.#agentId = agentId
    this.#talk = {
      turns: [],
      isLoading: sessionId !== undefined,
      ...(sessionId !== undefined && { session: { id: sessionId, name: '' } }),
    }
  }

  get sessionId(): string | undefined {
    return this.#talk.session?.id
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
  readonly snapshot = () => this.#talk

  /** Reads the history of an existing session, and follows its running turn. */
  async open(): Promise<void> {
    const { sessionId } = this
    if (this.#isOpened || sessionId === undefined || !this.#talk.isLoading) return
    this.#isOpened = true
    try {
      const { session, messages } = await this.#client.sessions.get({ agentId: this.#agentId, sessionId })
      const turns: Turn[] = []
      for (const { id, role, content, createdAt } of messages) {
        if (role === 'USER') turns.push({ ...this.#newTurn(content), messageId: id, state: 'stopped' })
        else if (turns.length > 0)
          Object.assign(turns.at(-1)!, { state: 'done', reply: { id, content, createdAt, isKept: true, made: 0 } })
      }
      this.#show({ turns, session, isLoading: false })
      const last = turns.at(-1)
      if (last?.state === 'stopped' && last.messageId !== undefined) await this.#lookAt(last.key, last.messageId)
    } catch (error) {
      this.#isOpened = false
      this.#show({ ...this.#talk, isLoading: false, loadError: error })
    }
  }

  /** Reads the history again. */
  reopen(): void {
    const { session, turns } = this.#talk
    this.#show({ turns, isLoading: true, ...(session && { session }) })
    void this.open()
  }

  send(text: string, wishes: Wishes): void {
    const turn = this.#newTurn(text)
    this.#show({ ...this.#talk, turns: [...this.#talk.turns, turn] })
    void this.#sendTurn(turn.key, wishes)
  }

  /** Sends a failed message again. If the service has stored it, the service continues with it. */
  again(key: number, wishes: Wishes): void {
    this.#change(key, { state: 'sending', growing: '', error: undefined, isStopping: false })
    void this.#sendTurn(key, wishes)
  }

  /** Regenerates the last reply. */
  regenerate(key: number, { format, additionalContext }: Wishes): void {
    const turn = this.#find(key)
    const { sessionId } = this
    if (turn?.reply === undefined || sessionId === undefined) return
    const { id } = turn.reply
    this.#change(key, { state: 'sending', growing: '', error: undefined, isStopping: false })
    const body = { format, include: INCLUDE, ...(additionalContext !== '' && { additionalContext }) }
    const idempotencyKey = newUuid()
    void this.#follow(key, () =>
      this.#client.messages.streamRegenerate({ agentId: this.#agentId, sessionId, messageId: id, ...body }, { idempotencyKey }),
    )
  }

  /** Stops the running reply. The text so far stays. */
  stop(): void {
    const turn = this.#talk.turns.at(-1)
    if (turn === undefined || !isBusy(turn) || turn.isStopping) return
    this.#change(turn.key, { isStopping: true })
    if (turn.messageId !== undefined) void this.#cancel(turn.key, turn.messageId)
  }

  async #sendTurn(key: number, wishes: Wishes): Promise<void> {
    const text = this.#find(key)?.text ?? ''
    const { format, additionalContext } = wishes
    const body = { message: text, format, include: INCLUDE, ...(additionalContext !== '' && { additionalContext }) }
    try {
      const sessionId = this.sessionId ?? (await this.#newSession(wishes))
      const idempotencyKey = newUuid()
      await this.#follow(key, () =>
        this.#client.messages.stream({ agentId: this.#agentId, sessionId, ...body }, { idempotencyKey }),
      )
    } catch (error) {
      this.#change(key, { state: 'failed', error })
    }
  }

  async #newSession({ externalUserId }: Wishes): Promise<string> {
    const user = externalUserId === '' ? {} : { externalUserId }
    const { session } = await this.#client.sessions.create({ agentId: this.#agentId, ...user })
    this.#talk = { ...this.#talk, session }
    this.onSession(session.id)
    this.#show(this.#talk)
    return session.id
  }

  /** Reads the state of the turn of a message without a reply. */
  async #lookAt(key: number, messageId: string): Promise<void> {
    const { message } = await this.#client.messages.get({ agentId: this.#agentId, sessionId: this.sessionId!, messageId })
    if (message.turn === 'failed') this.#change(key, { state: 'failed' })
    if (message.turn !== 'running') return
    this.#change(key, { state: 'replying' })
    void this.#follow(key, () => this.#resume(messageId))
  }

  readonly #resume = (messageId: string, lastEventId?: string): Stream =>
    this.#client.messages.resume({ agentId: this.#agentId, sessionId: this.sessionId!, messageId, lastEventId })

  /** Follows a turn until it ends, and resumes the stream after every lost connection. */
  async #follow(key: number, begin: () => Stream): Promise<void> {
    this.#pace = this.#newPace()
    const seen: { messageId?: string; lastEventId?: string } = {}
    for (let breaks = 0; ; breaks++) {
      try {
        const stream = seen.messageId === undefined ? begin() : this.#resume(seen.messageId, seen.lastEventId)
        for await (const event of stream) {
          breaks = 0
          this.#take(key, event)
          if (event.type === 'turn.completed') return
          if (event.type === 'turn.started') seen.messageId = event.userMessage.id
          seen.lastEventId = event.id
        }
      } catch (error) {
        const isLost = error instanceof ReparteeError && (error.code === 'connection_failed' || error.code === 'timeout')
        if (!isLost || this.#find(key)?.isStopping) return this.#fail(key, error)
        this.#change(key, { state: 'lost' })
        await backOnline(PAUSES_MS[Math.min(breaks, PAUSES_MS.length - 1)]!)
      }
    }
  }

  #take(key: number, event: TurnEvent): void {
    const turn = this.#find(key)
    if (turn === undefined) return
    if (event.type === 'turn.started') {
      const { id } = event.userMessage
      this.#change(key, { state: 'replying', messageId: id, growing: '' })
      if (turn.isStopping) void this.#cancel(key, id)
    } else if (event.type === 'message.delta') {
      this.#grow(key, event.text)
    } else {
      const { chatSession, userMessage } = event.answer
      this.#talk = { ...this.#talk, session: chatSession }
      const reply = toReply(event.answer, turn.reply)
      this.#change(key, { state: 'done', messageId: userMessage.id, reply, growing: '', isStopping: false })
    }
  }

  #fail(key: number, error: unknown): void {
    const isStopped = error instanceof ReparteeError && error.code === 'turn_cancelled'
    // If regenerating failed, the previous reply stays.
    const state = this.#find(key)?.reply !== undefined ? 'done' : isStopped ? 'stopped' : 'failed'
    this.#change(key, { state, growing: '', isStopping: false, error: isStopped ? undefined : error })
  }

  async #cancel(key: number, messageId: string): Promise<void> {
    try {
      await this.#client.messages.cancel({ agentId: this.#agentId, sessionId: this.sessionId!, messageId })
    } catch (error) {
      this.#change(key, { isStopping: false, error })
    }
  }

  #newTurn(text: string): Turn {
    return { key: ++this.#lastKey, text, state: 'sending', growing: '', isStopping: false }
  }

  #find(key: number): Turn | undefined {
    return this.#talk.turns.find((turn) => turn.key === key)
  }

  #newPace(): Pace {
    return new Pace(() => this.#show(this.#talk))
  }

  /** Collects the pieces of text, so that one render draws all of them. */
  #grow(key: number, text: string): void {
    const turns = this.#talk.turns.map((turn) => (turn.key === key ? { ...turn, growing: turn.growing + text } : turn))
    this.#talk = { ...this.#talk, turns }
    this.#pace.want()
  }

  #change(key: number, change: Partial<Turn>): void {
    this.#show({ ...this.#talk, turns: this.#talk.turns.map((turn) => (turn.key === key ? { ...turn, ...change } : turn)) })
  }

  #show(next: Talk): void {
    this.#pace.rest()
    // React renders only if the object is new, even if the text in it grew.
    this.#talk = { ...next }
    for (const listener of this.#listeners) listener()
  }
}

function toReply({ aiMessage, followUps, sources, usage, trace }: Answer, before: Reply | undefined): Reply {
  const { id, content, createdAt, model } = aiMessage
  return {
    id,
    content,
    createdAt,
    model,
    isKept: sources === undefined,
    made: before === undefined ? 0 : before.made + 1,
    ...(followUps && { followUps }),
    ...(sources && { sources }),
    ...(usage && { usage }),
    ...(trace && { trace }),
  }
}

/** Resolves after a delay, or as soon as the browser is online again. */
function backOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer)
      removeEventListener('online', go)
      resolve()
    }
    const timer = setTimeout(go, ms)
    addEventListener('online', go)
  })
}
