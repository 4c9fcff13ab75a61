/** The supported wire formats, by their names in the configuration. */
export const protocols = ['chat', 'responses', 'anthropic', 'google', 'ollama'] as const
export type Protocol = (typeof protocols)[number]

/** A service that serves models. */
export interface Provider {
  /** The part before the slash in the name of a model. */
  name: string
  protocol: Protocol
  baseUrl: string
  apiKey: string | undefined
  /** Sent with every call, in addition to the headers of the protocol. */
  headers: Record<string, string>
  /** Largest context window of its models, if the protocol can set it. */
  maxContextTokens?: number
}

/** The built-in providers, with the environment variable that enables each. */
export const builtIn: Record<string, string> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
  ollama: 'OLLAMA_HOST',
}

const keyHeaders: Record<Protocol, (apiKey: string) => Record<string, string>> = {
  chat: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  responses: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  anthropic: (apiKey) => ({ 'x-api-key': apiKey }),
  google: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  ollama: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
}

/** Returns the key in the header of the protocol, and the provider's own headers. */
export const headersOf = ({ protocol, apiKey, headers }: Provider): Record<string, string> => ({
  ...(apiKey === undefined ? {} : keyHeaders[protocol](apiKey)),
  ...headers,
})
