/** The wire formats that are spoken here, by the names that a configuration gives them. */
export const protocols = ['chat', 'responses', 'anthropic', 'google', 'ollama'] as const
export type Protocol = (typeof protocols)[number]

/** A service that models live at. */
export interface Provider {
  /** What stands before the slash in the name of a model. */
  name: string
  protocol: Protocol
  baseUrl: string
  apiKey: string | undefined
  /** Sent with every call, beside those of the protocol. */
  headers: Record<string, string>
  /** Largest context window of its models, where the protocol lets it be set. */
  maxContextTokens?: number
}

/** A provider that every deployment knows by name, and the variable to set for it. */
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

/** Whom a call is from: the key as the protocol wants it, and the provider's own headers. */
export const headersOf = ({ protocol, apiKey, headers }: Provider): Record<string, string> => ({
  ...(apiKey === undefined ? {} : keyHeaders[protocol](apiKey)),
  ...headers,
})
