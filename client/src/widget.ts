/**
 * The types of the chat that the service serves as `/widget.js`: `window.Repartee`, and the element `<repartee-chat>`. They hold wherever
 * a program says `import type {} from 'repartee-client/widget'`. There is nothing to run here: the script itself comes from the service.
 */
import type { GetToken } from './credentials.ts'
import type { ErrorCode } from './errors.ts'
import type { CitedSource } from './types.ts'

/** How a chat is set up. Only `agentId`, and `tokenUrl` or `getToken`, are needed. */
export interface ChatOptions {
  /** The agent that replies. */
  agentId: string
  /** Of the service, like `https://chat.example.com/v1`. That which the script came from, unless given. */
  baseUrl?: string | undefined
  /** An address of the page's own server that answers `{ token, expiresAt }` for whoever is signed in. */
  tokenUrl?: string | undefined
  /** Instead of `tokenUrl`. Asked again when a token is about to end, or is refused. */
  getToken?: GetToken | undefined
  /** In the head of the chat. */
  title?: string | undefined
  /** What the chat says before the first message. */
  greeting?: string | undefined
  /** Questions to begin with. */
  starters?: string[] | undefined
  /** That of the visitor's system, unless given. */
  theme?: 'light' | 'dark' | 'auto' | undefined
  /** Language of the chat's own texts, like `de`. That of the page, unless given. */
  lang?: string | undefined
  /** Texts instead of the chat's own. */
  labels?: Partial<ChatLabels> | undefined
  /** How long the conversation is found again: in this tab (unless given), on this device, or until the page is left. */
  remember?: 'tab' | 'device' | 'no' | undefined
  /** What of the page goes with each message: `page`, a CSS selector, or a function. Nothing, unless given. */
  context?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Where the chat stands, an element or a CSS selector, instead of floating over the page. */
  target?: Element | string | undefined
  /** The corner: at the end of a line (unless given) or at its start. */
  side?: 'start' | 'end' | undefined
  /** `none`: the page has a button of its own that calls `Repartee.open()`. */
  launcher?: 'none' | undefined
}

/** What can be said of a chat in HTML: on `<repartee-chat>`, and with `data-` before it on the tag of the script. */
export interface ChatAttributes {
  agent?: string | undefined
  'base-url'?: string | undefined
  'token-url'?: string | undefined
  title?: string | undefined
  greeting?: string | undefined
  /** With a bar between them. */
  starters?: string | undefined
  theme?: ChatOptions['theme']
  lang?: string | undefined
  /** An object as JSON. */
  labels?: string | undefined
  remember?: ChatOptions['remember']
  /** `page`, or a CSS selector. */
  context?: string | undefined
  /** A CSS selector; of the script's tag alone. */
  target?: string | undefined
  side?: ChatOptions['side']
  launcher?: ChatOptions['launcher']
}

/** What is told of a chat, by event. */
export interface ChatEvents {
  open: Record<string, never>
  close: Record<string, never>
  /** A message of the visitor, with its `text`, or a whole reply, with its `id`, `html` and `sources`. */
  message: {
    role: 'user' | 'agent'
    sessionId?: string | undefined
    text?: string | undefined
    id?: string | undefined
    html?: string | undefined
    sources?: CitedSource[] | undefined
  }
  /** What the visitor is told in plain words. */
  error: { code: ErrorCode; message: string; requestId?: string | undefined }
}

/** The element `<repartee-chat>`. Its events are named `repartee-open`, `repartee-close`, `repartee-message` and `repartee-error`. */
export interface ChatElement extends HTMLElement {
  /** What attributes cannot hold, such as functions. */
  options: Partial<ChatOptions>
  /** Whether it can be seen. */
  readonly isOpen: boolean
  /** Shows the chat and puts the focus into it. */
  open(): void
  close(): void
  /** Sends a message as if the visitor had written it. */
  send(text: string): void
  /** Takes the chat out of the page. */
  destroy(): void
}

/** `window.Repartee`: the one name that the script adds to a page. */
export interface ReparteeWidget {
  /** Puts a chat into the page: a button in the corner, or, with `target`, the chat itself. A floating one that is there is kept, unless the agent is another. */
  create(options: ChatOptions): ChatElement
  /** Opens the chat; with options it is put into the page first. */
  open(options?: ChatOptions): void
  close(): void
  /** Sends a message as if the visitor had written it. */
  send(text: string): void
  /** Takes the chat out of the page. */
  destroy(): void
  /** Hears of what happens in any chat of the page. Returns what ends that. */
  on<E extends keyof ChatEvents>(event: E, listener: (detail: ChatEvents[E]) => void): () => void
}

/** The chat's own texts, by what they are for. `{n}` and `{title}` stand for what is put there. */
export interface ChatLabels {
  title: string
  open: string
  openNew: string
  close: string
  newChat: string
  conversation: string
  placeholder: string
  send: string
  stop: string
  you: string
  agent: string
  waiting: string
  stopped: string
  sources: string
  source: string
  page: string
  openSource: string
  followUps: string
  good: string
  bad: string
  copy: string
  copied: string
  thanks: string
  latest: string
  loading: string
  retry: string
  offline: string
  broken: string
  notice: string
  failed: string
  unreachable: string
  signedOut: string
  tooMany: string
  quota: string
  tooLong: string
  gone: string
}

type Told = { [E in keyof ChatEvents as `repartee-${E}`]: CustomEvent<ChatEvents[E]> }

declare global {
  /** Undefined until the script has come, and in pages in which something keeps it away. */
  var Repartee: ReparteeWidget | undefined
  interface HTMLElementTagNameMap {
    'repartee-chat': ChatElement
  }
  interface HTMLElementEventMap extends Told {}
  interface DocumentEventMap extends Told {}
}
