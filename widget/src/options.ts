import type { GetToken } from 'repartee-client'
import type { Labels } from './labels/labels.ts'

/** How a chat is set up. Only `agentId`, and `tokenUrl` or `getToken`, are needed. */
export interface ChatOptions {
  /** The agent that replies. */
  agentId: string
  /** Of the service, like `https://chat.example.com/v1`. That which the script came from, unless given. */
  baseUrl?: string
  /** An address of the page's own server that answers `{ token, expiresAt }` for whoever is signed in. */
  tokenUrl?: string
  /** Instead of `tokenUrl`. Asked again when a token is about to end, or is refused. */
  getToken?: GetToken
  /** In the head of the chat. */
  title?: string
  /** What the chat says before the first message. */
  greeting?: string
  /** Questions to begin with. */
  starters?: string[]
  /** That of the visitor's system, unless given. */
  theme?: 'light' | 'dark' | 'auto'
  /** Language of the chat's own texts, like `de`. That of the page, unless given. */
  lang?: string
  /** Texts instead of the chat's own. */
  labels?: Partial<Labels>
  /** How long the conversation is found again: in this tab (unless given), on this device, or until the page is left. */
  remember?: 'tab' | 'device' | 'no'
  /** What of the page goes with each message: `page`, a CSS selector, or a function. Nothing, unless given. */
  context?: string | (() => string | undefined | Promise<string | undefined>)
  /** Where the chat stands, an element or a CSS selector, instead of floating over the page. */
  target?: Element | string
  /** The corner: at the end of a line (unless given) or at its start. */
  side?: 'start' | 'end'
  /** `none`: the page has a button of its own that calls `Repartee.open()`. */
  launcher?: 'none'
}

/** Reads the options that stand as attributes, by their name without a prefix. */
export function readAttributes(get: (name: string) => string | null | undefined): Partial<ChatOptions> {
  const options: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(ATTRIBUTES)) {
    const value = get(name)
    // Empty says something only where otherwise the agent would be asked.
    const isEmpty = value === '' && option !== 'greeting' && option !== 'starters'
    if (value !== null && value !== undefined && !isEmpty) options[option] = READERS[option]?.(value) ?? value
  }
  return options
}

/** The only names that attributes have. */
export const ATTRIBUTES: Record<string, keyof ChatOptions> = {
  agent: 'agentId',
  'base-url': 'baseUrl',
  'token-url': 'tokenUrl',
  title: 'title',
  greeting: 'greeting',
  starters: 'starters',
  theme: 'theme',
  lang: 'lang',
  labels: 'labels',
  remember: 'remember',
  context: 'context',
  target: 'target',
  side: 'side',
  launcher: 'launcher',
}

const READERS: Partial<Record<keyof ChatOptions, (value: string) => unknown>> = {
  starters: (value) => value.split('|').flatMap((text) => text.trim() || []),
  labels: (value) => {
    try {
      return JSON.parse(value)
    } catch {
      complain('labels must be JSON.')
      return {}
    }
  },
}

/** For whoever put the chat into the page: it is told, and the page goes on. */
export const complain = (what: string): void => console.error(`Repartee: ${what}`)
