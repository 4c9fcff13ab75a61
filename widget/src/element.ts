import type { ChatElement as Contract } from 'repartee-client/widget'
import { ATTRIBUTES, type ChatOptions, complain, readAttributes } from './options.ts'
import css from './style.css?inline'
import { ChatView } from './view/chat-view.ts'

/** The element's name. A page can also use it in its HTML. */
export const NAME = 'repartee-chat'

/** URL of this script, which gives the URL of the service. Empty for a module script: `currentScript` is null there. */
const SCRIPT = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''

let sheet: CSSStyleSheet | undefined

/** A style sheet object needs no permission of the page's Content-Security-Policy. */
function sheetOf(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(css)
  }
  return sheet
}

/**
 * A chat in a page. `<repartee-chat agent="…" token-url="…">` shows it in place. The attribute `floating` makes it a button
 * in the corner that opens it. `options` sets options that attributes cannot contain, such as functions.
 */
export class ChatElement extends HTMLElement implements Contract {
  static readonly observedAttributes = [...Object.keys(ATTRIBUTES), 'floating']
  #options: Partial<ChatOptions> = {}
  #view: ChatView | undefined
  /** Calls that wait for the view. */
  #early: ((view: ChatView) => void)[] = []
  #wasConnected = false
  #isChanging = false

  constructor() {
    super()
    this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheetOf()]
    // The page can set `options` before the element is defined.
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
    // Moving an element removes it for a moment.
    queueMicrotask(() => !this.isConnected && this.#stop())
  }

  /** Frameworks can set attributes after the element is connected, one by one. */
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

  get isOpen(): boolean {
    return this.#view?.isOpen === true
  }

  open(): void {
    this.#with((view) => view.open())
  }

  close(): void {
    this.#view?.close()
  }

  send(text: string): void {
    this.#with((view) => void view.send(String(text)))
  }

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

/** Returns complete options, or undefined with a console error that names the missing option. */
function complete(options: Partial<ChatOptions>): ChatOptions | undefined {
  const { agentId, tokenUrl, getToken, baseUrl = SCRIPT === '' ? undefined : new URL('v1', SCRIPT).href } = options
  if (agentId === undefined) return undefined
  if (tokenUrl === undefined && getToken === undefined) return void complain('a token-url, or getToken, is needed.')
  if (baseUrl === undefined) return void complain('a base-url is needed.')
  return { ...options, agentId, baseUrl }
}
