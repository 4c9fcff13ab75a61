import type { ChatElement as Contract } from 'repartee-client/widget'
import { ATTRIBUTES, type ChatOptions, complain, readAttributes } from './options.ts'
import css from './style.css?inline'
import { ChatView } from './view/chat-view.ts'

/** The name of the element, which a page may write by itself. */
export const NAME = 'repartee-chat'

/** Where this script came from, and with it the service. A module script is not told. */
const SCRIPT = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''

let sheet: CSSStyleSheet | undefined

/** Styles as an object need no permission of the page's policy. */
function sheetOf(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
  }
  return sheet
}

/**
 * A chat in a page. Written into the page as `<repartee-chat agent="…" token-url="…">` it stands where it is written; with the attribute
 * `floating` it is a button in the corner that opens it. `options` sets what attributes cannot hold, such as functions.
 */
export class ChatElement extends HTMLElement implements Contract {
  static readonly observedAttributes = [...Object.keys(ATTRIBUTES), 'floating']
  #options: Partial<ChatOptions> = {}
  #view: ChatView | undefined
  /** What is to be done as soon as it can be. */
  #early: ((view: ChatView) => void)[] = []
  #wasConnected = false
  #isChanging = false

  constructor() {
    super()
    this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheetOf()]
    // Set before the element was known.
    const early = Object.getOwnPropertyDescriptor(this, 'options')?.value as Partial<ChatOptions> | undefined
    delete (this as { options?: unknown }).options
    if (early !== undefined) this.#options = early
  }

  get options(): Partial<ChatOptions> {
    return this.#options
  }

  set options(options: Partial<ChatOptions>) {
    this.#options = options
    this.#stop()
    this.#start()
  }

  connectedCallback(): void {
    this.#wasConnected = true
    this.#start()
  }

  disconnectedCallback(): void {
    // Whoever moves an element takes it out for a moment.
    queueMicrotask(() => !this.isConnected && this.#stop())
  }

  /** Frameworks set attributes when the element stands in the page already, and other ones later on. */
  attributeChangedCallback(name: string, before: string | null, value: string | null): void {
    if (name === 'theme') this.#view?.theme(value)
    if (name === 'theme' || before === value || !this.#wasConnected || this.#isChanging) return
    this.#isChanging = true
    queueMicrotask(() => {
      this.#isChanging = false
      this.#stop()
      this.#start()
    })
  }

  /** Whether it can be seen. */
  get isOpen(): boolean {
    return this.#view?.isOpen === true
  }

  /** Shows the chat and puts the focus into it. */
  open(): void {
    this.#with((view) => view.open())
  }

  close(): void {
    this.#view?.close()
  }

  /** Sends a message as if the visitor had written it. */
  send(text: string): void {
    this.#with((view) => void view.send(String(text)))
  }

  /** Takes the chat out of the page. */
  destroy(): void {
    this.#early = []
    this.#stop()
    this.remove()
  }

  #with(act: (view: ChatView) => void): void {
    if (this.#view === undefined) this.#early.push(act)
    else act(this.#view)
  }

  #start(): void {
    if (this.#view !== undefined || !this.isConnected) return
    const options = complete({ ...readAttributes((name) => this.getAttribute(name)), ...this.#options })
    if (options === undefined) return
    const tell = (event: string, detail: object) =>
      void this.dispatchEvent(new CustomEvent(`repartee-${event}`, { detail, bubbles: true, composed: true }))
    const view = new ChatView(this, options, tell)
    this.#view = view
    this.shadowRoot!.append(view.root)
    view.ready()
    for (const act of this.#early.splice(0)) act(view)
  }

  #stop(): void {
    this.#view?.destroy()
    this.#view = undefined
  }
}

/** What a chat cannot do without is there, or its owner is told what is missing. */
function complete(options: Partial<ChatOptions>): ChatOptions | undefined {
  const { agentId, tokenUrl, getToken, baseUrl = SCRIPT === '' ? undefined : new URL('v1', SCRIPT).href } = options
  if (agentId === undefined) return undefined
  if (tokenUrl === undefined && getToken === undefined) return void complain('a token-url, or getToken, is needed.')
  if (baseUrl === undefined) return void complain('a base-url is needed.')
  return { ...options, agentId, baseUrl }
}
