import type { Protocol, Provider } from '../models/provider.ts'
import type { Config } from './config.ts'
import { toOllamaUrl } from './parse-providers.ts'

/** Returns the providers of this deployment: configured built-in ones first, then the ones of `REPARTEE_PROVIDERS`. */
export function providersOf(config: Config): Provider[] {
  const { openaiApiKey, openaiBaseUrl, anthropicApiKey, anthropicBaseUrl, googleBaseUrl, ollamaHost } = config
  const googleApiKey = config.googleApiKey ?? config.geminiApiKey
  const known = (
    name: string,
    protocol: Protocol,
    apiKey: string | undefined,
    baseUrl: string | undefined,
    usual: string,
  ): Provider[] =>
    apiKey === undefined && baseUrl === undefined ? [] : [{ name, protocol, apiKey, baseUrl: baseUrl ?? usual, headers: {} }]
  const all = [
    ...known('openai', config.openaiProtocol as Protocol, openaiApiKey, openaiBaseUrl, 'https://api.openai.com/v1'),
    ...known('anthropic', 'anthropic', anthropicApiKey, anthropicBaseUrl, 'https://api.anthropic.com/v1'),
    ...known('google', 'google', googleApiKey, googleBaseUrl, 'https://generativelanguage.googleapis.com/v1beta'),
    ...known('ollama', 'ollama', undefined, ollamaHost && toOllamaUrl(ollamaHost), ''),
    ...(config.providers ?? []),
  ]
  return all.map((provider) =>
    provider.protocol === 'ollama' ? { ...provider, maxContextTokens: config.ollamaContextTokens } : provider,
  )
}

/** Returns the default embedding model, derived from the configured keys. Null without a suitable key. */
export function defaultEmbeddingModel({ embeddingModel, openaiApiKey, googleApiKey, geminiApiKey }: Config): string | null {
  if (embeddingModel !== undefined) return embeddingModel
  if (openaiApiKey !== undefined) return 'openai/text-embedding-3-small'
  return (googleApiKey ?? geminiApiKey) === undefined ? null : 'google/gemini-embedding-001'
}
