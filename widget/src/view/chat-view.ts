import {
  agents,
  type ChatMessage,
  type Connection,
  Conversation,
  type ConversationState,
  connect,
  type ReparteeError,
} from 'repartee-client'
import { contextOf } from '../chat/context.ts'
import { toEntries } from '../chat/entries.ts'
import { Memory } from '../chat/memory.ts'
import { untilOnline } from '../chat/online.ts'
import { tokenFrom } from '../chat/token.ts'
import { wordsFor } from '../labels/errors.ts'
import { isFromRight, type Labels, labelsFor } from '../labels/labels.ts'
import type { ChatOptions } from '../options.ts'
import { Composer } from './composer.ts'
import { h, icon } from './dom.ts'
import { Log } from './log.ts'
import { makePanel, type Panel, Welcome } from './panel.ts'
import { followScreen, isPhone, keepFocus } from './phone.ts'

/** Attempts to resume a reply after the client's own retries. */
const RECONNECTS = 4

/** Dispatches an event to the page. */
export type Tell = (event: 'open' | 'close' | 'message' | 'error', detail: object) => void

/** A chat in a page: its visible parts and its conversation. */
export class ChatView {
  readonly root: HTMLElement
  readonly #options: ChatOptions
  readonly #labels: Labels
  readonly #tell: Tell
  readonly #memory: Memory
  readonly #service: Connection
  readonly #conversation: Conversation
  readonly #welcome: Welcome
  readonly #composer: Composer
  readonly #log: Log
  readonly #panel: Panel
  /** Undefined if the chat is embedded in the page. */
  readonly #launcher: HTMLElement | undefined
  readonly #host: HTMLElement
  readonly #end: (() => void)[] = []
  /** The state that is shown. */
  #state: ConversationState
  /** Resolves when the conversation is loaded, or cannot be. */
  #opening: Promise<void> | undefined
  /** The frame that will show more of a growing reply. */
  #frame: number | undefined
  #isOpen = false
  #isIntroduced = false
  /** The element that was focused before the chat opened. */
  #before: HTMLElement | undefined

  constructor(host: HTMLElement, options: ChatOptions, tell: Tell) {
    this.#host = host
    this.#options = options
    this.#tell = tell
    const isFloating = host.hasAttribute('floating')
    const wanted = options.lang ?? placeOf(host).closest<HTMLElement>('[lang]')?.lang ?? navigator.language
    const { labels, lang } = labelsFor(wanted, options.labels)
    this.#labels = labels
    this.#memory = new Memory(options.agentId, options.remember)
    this.#service = toConnection(options)
    const { session: sessionId, unsent } = this.#memory.kept
    const { agentId } = options
    this.#conversation = new Conversation(this.#service, { agentId, sessionId, unsent, format: 'html', reconnects: RECONNECTS })
    this.#state = this.#conversation.getState()
    const ask = (text: string) => void this.send(text)
    this.#composer = new Composer(labels, ask, () => void this.#conversation.stop())
    const actions = {
      ask: (text: string) => {
        ask(text)
        this.#focus()
      },
      retry: (messageId: string) => {
        void this.#conversation.retry(messageId)
        // The focused button no longer exists.
        this.#focus()
      },
      rate: (messageId: string, rating: 'up' | 'down') => void this.#conversation.rate(messageId, rating),
      say: (text: string) => this.#panel.say(text),
    }
    const seen = ({ id }: ChatMessage) => void this.#conversation.loadDetails(id)
    this.#welcome = new Welcome(labels, actions.ask)
    this.#welcome.fill(options)
    this.#log = new Log(labels, actions, this.#welcome.element, seen)
    const reset = () => {
      this.#opening = this.#conversation.reset()
      this.#panel.problem(undefined, () => {})
      this.#focus()
    }
    const close = isFloating ? () => this.close() : undefined
    this.#panel = makePanel(labels, options, { log: this.#log, composer: this.#composer, close, reset })
    this.#launcher = isFloating ? this.#makeLauncher() : undefined
    this.root = h('div', {
      class: isFloating ? 'root floating' : 'root',
      lang,
      'data-side': options.side,
      keydown: this.#keyDown,
      keypress: keepTyping,
      keyup: keepTyping,
    })
    this.root.append(
      this.#panel.element,
      ...(this.#launcher === undefined || options.launcher === 'none' ? [] : [this.#launcher]),
    )
    this.theme(options.theme)
    this.#panel.element.hidden = isFloating
    this.#listen()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Called when the view is in the page, so that its surroundings are known. */
  ready(): void {
    this.#turnTo()
    if (this.#launcher === undefined) this.#show()
    // On a phone the chat would cover the page that the visitor navigated to.
    else if (this.#memory.kept.isOpen && !isPhone()) this.#show()
  }

  open(): void {
    if (this.#isOpen) return
    const { activeElement } = document
    this.#before = activeElement instanceof HTMLElement && activeElement !== document.body ? activeElement : undefined
    this.#show()
    this.#focus()
  }

  close(): void {
    if (!this.#isOpen || this.#launcher === undefined) return
    const hadFocus = this.#panel.element.contains(this.#shadow.activeElement)
    this.#isOpen = false
    this.#panel.element.hidden = true
    this.#memory.keep({ isOpen: false })
    this.#label()
    if (hadFocus) this.#focusBefore()
    this.#tell('close', {})
  }

  /** Sends a visitor's message. If it cannot be sent now, puts it into the message field. */
  async send(text: string): Promise<void> {
    if (text.trim() === '') return
    const isThere = await this.#restore()
    const context = isThere ? await contextOf(this.#options.context) : undefined
    // The chat was removed from the page.
    if (!this.root.isConnected) return
    if (isThere && this.#state.status === 'ready') void this.#conversation.send(text, { additionalContext: context })
    else if (this.#composer.text === '') this.#composer.text = text
  }

  theme(theme: string | null | undefined): void {
    this.root.dataset.theme = theme ?? 'auto'
  }

  destroy(): void {
    this.#conversation.close()
    this.#log.close()
    for (const end of this.#end) end()
    this.root.remove()
  }

  get #shadow(): ShadowRoot {
    return this.root.getRootNode() as ShadowRoot
  }

  #show(): void {
    this.#isOpen = true
    this.#panel.element.hidden = false
    if (this.#launcher !== undefined) this.#memory.keep({ isOpen: true })
    delete this.root.dataset.unread
    this.#turnTo()
    this.#label()
    this.#fit()
    this.#log.toEnd()
    void this.#restore()
    void this.#introduce()
    this.#tell('open', {})
  }

  #focus(): void {
    // A phone's keyboard would cover the messages.
    if (matchMedia('(pointer: coarse)').matches) this.#panel.element.focus()
    else this.#composer.focus()
  }

  #focusBefore(): void {
    const before = this.#before?.isConnected && this.#before !== this.#host ? this.#before : this.#launcher
    before?.focus()
  }

  /** Loads a greeting or starters that the page does not set from the agent's profile. */
  async #introduce(): Promise<void> {
    const { agentId, greeting, starters } = this.#options
    if (this.#isIntroduced || (greeting !== undefined && starters !== undefined)) return
    this.#isIntroduced = true
    try {
      const { profile } = await agents.profile(this.#service, { agentId })
      this.#welcome.fill({ greeting: greeting ?? profile.greeting, starters: starters ?? profile.starters })
    } catch {
      // Sending a message will report the error.
      this.#isIntroduced = false
    }
  }

  /** Resolves to whether the conversation is loaded. If loading fails, shows the problem. */
  async #restore(): Promise<boolean> {
    const again = () => {
      this.#focus()
      void this.#restore()
    }
    const { status, isLoaded } = this.#state
    if (isLoaded) return true
    if (status === 'loading') this.#panel.say(this.#labels.loading)
    if (this.#opening === undefined || status === 'ready') this.#opening = this.#conversation.open()
    await this.#opening
    const { error, unsent } = this.#state
    // The session was deleted, or is another user's.
    if (!this.#state.isLoaded && error?.code === 'session_not_found') this.#opening = this.#conversation.reset()
    if (!this.#state.isLoaded) {
      // The chat was removed from the page.
      if (error === undefined) return false
      this.#panel.problem(wordsFor(error, this.#labels), again)
      this.#failed(error)
      return false
    }
    this.#panel.problem(undefined, again)
    if (unsent !== undefined && !isBusy(this.#state)) {
      this.#composer.text = unsent
      this.#memory.keep({ unsent: undefined })
    }
    return true
  }

  /** Shows and stores a change of the conversation. */
  readonly #changed = (): void => {
    const [before, state] = [this.#state, this.#conversation.getState()]
    this.#state = state
    const { messages, status, isLoaded, isBroken } = state
    const isSame = before.isLoaded && (before.messages.length === 0 || before.messages[0]!.key === messages[0]?.key)
    if (isLoaded && !isSame) this.#log.replace(toEntries(messages))
    else if (status === 'streaming') this.#frame ??= requestAnimationFrame(this.#grow)
    else if (isLoaded) this.#log.update(toEntries(messages))
    this.#blank()
    if (isBusy(state) !== isBusy(before)) this.#composer.busy(isBusy(state))
    if (isBusy(state) !== isBusy(before) || isLoaded !== before.isLoaded)
      this.#panel.say(isBusy(state) ? this.#labels.waiting : '')
    if (isBroken !== before.isBroken) this.#showConnection()
    this.#remember(before)
    if (before.isLoaded && isLoaded) this.#notify(before)
  }

  /** Shows growing text once per frame. A page in the background has no frames, and shows the complete reply. */
  readonly #grow = (): void => {
    this.#frame = undefined
    if (this.#state.isLoaded) this.#log.update(toEntries(this.#state.messages))
  }

  /** Stores the session and an unconfirmed message. Storing the session notifies the other tabs. */
  #remember(before: ConversationState): void {
    const { sessionId, unsent } = this.#state
    const isOther = sessionId !== before.sessionId && sessionId !== this.#memory.kept.session
    const isStored = before.unsent !== undefined && unsent === undefined
    if (isOther || isStored) this.#memory.keep({ unsent, session: sessionId })
    else if (unsent !== before.unsent) this.#memory.keep({ unsent })
  }

  /** Notifies the page of a new message, a complete reply or an error. */
  #notify(before: ConversationState): void {
    const { messages, sessionId, error } = this.#state
    const last = messages.at(-1)
    if (last?.role === 'USER' && last.turn === 'running' && last.key !== before.messages.at(-1)?.key)
      this.#tell('message', { role: 'user', text: last.content, sessionId })
    if (error !== undefined && error !== before.error) this.#failed(error)
    if (!isBusy(before) || isBusy(this.#state)) return
    const reply = messages.findLast((message) => message.role === 'AI' && !before.messages.includes(message))
    if (reply === undefined) return
    if (!this.#isOpen) this.root.dataset.unread = ''
    this.#label()
    const { id, content: html, sources = [] } = reply
    this.#tell('message', { role: 'agent', id, html, sources, sessionId })
  }

  #failed({ code, message, requestId }: ReparteeError): void {
    this.#tell('error', { code, message, requestId })
  }

  /** Shows the starters only while there are no messages. */
  #blank(): void {
    const { messages, sessionId, isLoaded } = this.#state
    this.root.classList.toggle('blank', messages.length === 0 && (isLoaded || sessionId === undefined))
  }

  readonly #showConnection = (): void => {
    const { offline, broken } = this.#labels
    this.#panel.notice(navigator.onLine ? (this.#state.isBroken ? broken : '') : offline)
  }

  #makeLauncher(): HTMLElement {
    const click = () => (this.#isOpen ? this.close() : this.open())
    const dot = h('span', { class: 'dot' })
    return h('button', { type: 'button', class: 'launcher', 'aria-expanded': 'false', click }, icon('chat'), icon('close'), dot)
  }

  #label(): void {
    if (this.#launcher === undefined) return
    const { open, openNew, close } = this.#labels
    this.#launcher.ariaExpanded = String(this.#isOpen)
    this.#launcher.ariaLabel = this.#isOpen ? close : 'unread' in this.root.dataset ? openNew : open
  }

  readonly #keyDown = (event: KeyboardEvent): void => {
    keepTyping(event)
    if (this.#launcher === undefined || event.isComposing) return
    if (event.key === 'Escape' && this.#isOpen) {
      event.stopPropagation()
      this.close()
    }
    if (event.key === 'Tab' && isPhone()) keepFocus(event, this.#panel.element)
  }

  /** A chat that fills the screen is modal. */
  #fit = (): void => {
    if (this.#launcher !== undefined) this.#panel.element.ariaModal = String(isPhone())
  }

  /** Uses the page's text direction, which can change. */
  #turnTo(): void {
    const { direction } = getComputedStyle(placeOf(this.#host))
    const isToldBy = this.#options.lang ?? (document.documentElement.dir === '' ? this.root.lang : '')
    this.root.dir = direction === 'rtl' || isFromRight(isToldBy) ? 'rtl' : 'ltr'
  }

  #listen(): void {
    for (const event of ['online', 'offline']) {
      addEventListener(event, this.#showConnection)
      this.#end.push(() => removeEventListener(event, this.#showConnection))
    }
    const unwatch = this.#memory.watch(() => {
      if (this.#opening !== undefined && !isBusy(this.#state)) this.#opening = this.#conversation.reset(this.#memory.kept.session)
    })
    this.#end.push(unwatch, this.#conversation.subscribe(this.#changed), followScreen(this.root, this.#fit))
    this.#showConnection()
    this.#label()
    this.#blank()
  }
}

const isBusy = ({ status }: ConversationState): boolean => status === 'waiting' || status === 'streaming'

/** The element that determines language and direction. A floating chat is next to the body and uses the body's. */
const placeOf = (host: HTMLElement): Element => (host.parentElement === document.documentElement ? document.body : host)

/** Stops key events from reaching the page. Its shortcuts would react to them, because they do not see a text field as the target. */
function keepTyping(event: KeyboardEvent): void {
  const { key, target, metaKey, ctrlKey, altKey } = event
  const isShortcut = metaKey || ctrlKey !== altKey || /^(Escape|Tab|F\d+)$/.test(key)
  if (target instanceof HTMLTextAreaElement && !isShortcut) event.stopPropagation()
}

/** Creates a connection whose requests wait while the device is offline, instead of using up retries. */
function toConnection({ baseUrl, tokenUrl, getToken }: ChatOptions): Connection {
  const waitingFetch: typeof fetch = async (input, init) => {
    await untilOnline(init?.signal)
    return fetch(input, init)
  }
  return connect({ baseUrl: baseUrl!, fetch: waitingFetch, token: getToken ?? tokenFrom(tokenUrl!) })
}
