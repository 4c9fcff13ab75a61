/**
 * Types of the chat widget that the service serves as `/widget.js`: `window.Repartee` and the element `<repartee-chat>`.
 * Load them with `import type {} from 'repartee-client/widget'`. This module contains no code to run: the script comes from the service.
 */
import type { GetToken } from './credentials.ts'
import type { ErrorCode } from './errors.ts'
import type { CitedSource } from './types.ts'

/** Options of a chat. Only `agentId`, and `tokenUrl` or `getToken`, are required. */
export interface ChatOptions {
  /** The agent that replies. */
  agentId: string
  /** URL of the service, such as `https://chat.example.com/v1`. Default: where the script was loaded from. */
  baseUrl?: string | undefined
  /** URL on the page's own server that returns `{ token, expiresAt }` for the signed-in user. */
  tokenUrl?: string | undefined
  /** Replaces `tokenUrl`. Called again when a token is rejected or about to expire. */
  getToken?: GetToken | undefined
  /** Title in the chat's header. */
  title?: string | undefined
  /** Text shown before the first message. */
  greeting?: string | undefined
  /** Suggested first questions. */
  starters?: string[] | undefined
  /** Default: the theme of the visitor's system. */
  theme?: 'light' | 'dark' | 'auto' | undefined
  /** Language of the chat's own texts, such as `de`. Default: the language of the page. */
  lang?: string | undefined
  /** Texts that replace the chat's own. */
  labels?: Partial<ChatLabels> | undefined
  /** How long the conversation is remembered: in this tab (default), on this device, or until the visitor leaves the page. */
  remember?: 'tab' | 'device' | 'no' | undefined
  /** Page content sent with each message: `page`, a CSS selector, or a function. Default: none. */
  context?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** An element or a CSS selector to put the chat into. Default: the chat floats over the page. */
  target?: Element | string | undefined
  /** The corner: at the end of a line (default) or at its start. */
  side?: 'start' | 'end' | undefined
  /** `none`: the page has its own button that calls `Repartee.open()`. */
  launcher?: 'none' | undefined
}

/** Options in HTML: attributes of `<repartee-chat>`, or of the script tag with the prefix `data-`. */
export interface ChatAttributes {
  agent?: string | undefined
  'base-url'?: string | undefined
  'token-url'?: string | undefined
  title?: string | undefined
  greeting?: string | undefined
  /** Separated by `|`. */
  starters?: string | undefined
  theme?: ChatOptions['theme']
  lang?: string | undefined
  /** A JSON object. */
  labels?: string | undefined
  remember?: ChatOptions['remember']
  /** `page`, or a CSS selector. */
  context?: string | undefined
  /** A CSS selector. Only for the script tag. */
  target?: string | undefined
  side?: ChatOptions['side']
  launcher?: ChatOptions['launcher']
}

/** Details of the chat's events. */
export interface ChatEvents {
  open: Record<string, never>
  close: Record<string, never>
  /** A message of the visitor with its `text`, or a complete reply with its `id`, `html` and `sources`. */
  message: {
    role: 'user' | 'agent'
    sessionId?: string | undefined
    text?: string | undefined
    id?: string | undefined
    html?: string | undefined
    sources?: CitedSource[] | undefined
  }
  /** An error that the visitor sees in plain words. */
  error: { code: ErrorCode; message: string; requestId?: string | undefined }
}

/** The element `<repartee-chat>`. Its events are named `repartee-open`, `repartee-close`, `repartee-message` and `repartee-error`. */
export interface ChatElement extends HTMLElement {
  /** Options that attributes cannot contain, such as functions. */
  options: Partial<ChatOptions>
  /** Whether the chat is visible. */
  readonly isOpen: boolean
  /** Shows the chat and moves the focus into it. */
  open(): void
  close(): void
  /** Sends a message as if the visitor had written it. */
  send(text: string): void
  /** Removes the chat from the page. */
  destroy(): void
}

/** `window.Repartee`, the only global that the script adds to a page. */
export interface ReparteeWidget {
  /** Adds a chat to the page: a button in the corner or, with `target`, the chat itself. Reuses an existing floating chat of the same agent. */
  create(options: ChatOptions): ChatElement
  /** Opens the chat. With options, creates it first. */
  open(options?: ChatOptions): void
  close(): void
  /** Sends a message as if the visitor had written it. */
  send(text: string): void
  /** Removes the chat from the page. */
  destroy(): void
  /** Subscribes to an event of all chats in the page. Returns the unsubscribe function. */
  on<E extends keyof ChatEvents>(event: E, listener: (detail: ChatEvents[E]) => void): () => void
}

/** The chat's own texts by purpose. `{n}` and `{title}` are placeholders. */
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
  /** Undefined until the script has loaded, or if something blocks it. */
  var Repartee: ReparteeWidget | undefined
  interface HTMLElementTagNameMap {
    'repartee-chat': ChatElement
  }
  interface HTMLElementEventMap extends Told {}
  interface DocumentEventMap extends Told {}
}
