import type { ChatAttributes, ChatOptions } from 'repartee-client/widget'

export type { ChatOptions }

/** Reads options from attributes, by their names without a prefix. */
export function readAttributes(get: (name: string) => string | null | undefined): Partial<ChatOptions> {
  const options: Record<string, unknown> = {}
  for (const [name, option] of Object.entries(ATTRIBUTES)) {
    const value = get(name)
    // An empty value only matters for options that would otherwise come from the agent.
    const isEmpty = value === '' && option !== 'greeting' && option !== 'starters'
    if (value !== null && value !== undefined && !isEmpty) options[option] = READERS[option]?.(value) ?? value
  }
  return options
}

/** All attribute names, and the options that they set. */
export const ATTRIBUTES: Record<keyof ChatAttributes, keyof ChatOptions> = {
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

/** Logs a problem for the developer of the page, without throwing. */
export const complain = (what: string): void => console.error(`Repartee: ${what}`)
