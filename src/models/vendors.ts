import type { Protocol, Provider } from './provider.ts'
import { type Sift, siftAnthropic, siftGoogle, siftResponses, siftWholeAnthropic, siftWholeResponses } from './vendor-answers.ts'

export type VendorProtocol = Exclude<Protocol, 'chat' | 'ollama'>

/** The interface that all packages implement. */
export type LanguageModel = ReturnType<ReturnType<typeof import('@ai-sdk/openai').createOpenAI>['responses']>

export interface VendorSettings {
  baseURL: string
  apiKey: string
  headers: Record<string, string>
  fetch: typeof fetch
}

type ProviderOptions = NonNullable<Parameters<LanguageModel['doStream']>[0]['providerOptions']>

interface Vendor {
  package: string
  /** Loads the package. Only deployments that use it spend the time and memory. */
  load(): Promise<(settings: VendorSettings, model: string) => LanguageModel>
  toBaseUrl(baseUrl: string): string
  options: ProviderOptions
  /** For the messages that the next prompt may begin with, too: the instructions, and all before the newest. */
  cacheOptions?: ProviderOptions
  /** A complete reply without a finish reason is incomplete. */
  saysWhyItEnded: boolean
  /** For an event of a stream, and for a complete answer. */
  sift: { event: Sift; whole: Sift }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/** The differences between the vendors' packages. */
export const vendors: Record<VendorProtocol, Vendor> = {
  responses: {
    package: '@ai-sdk/openai',
    async load() {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return (settings, model) => createOpenAI(settings).responses(model)
    },
    toBaseUrl: withoutSlash,
    // The conversation is stored only in Repartee.
    options: { openai: { store: false } },
    saysWhyItEnded: false,
    sift: { event: siftResponses, whole: siftWholeResponses },
  },
  anthropic: {
    package: '@ai-sdk/anthropic',
    async load() {
      const { createAnthropic } = await import('@ai-sdk/anthropic')
      return (settings, model) => createAnthropic(settings).messages(model)
    },
    // Anthropic's own libraries expect the URL without the version, this package expects it with the version.
    toBaseUrl: (url) => (/\/v\d+$/.test(withoutSlash(url)) ? withoutSlash(url) : `${withoutSlash(url)}/v1`),
    options: {},
    // The cache ends at a mark. Everything before the newest message begins the next prompt, and is then read at a tenth of the price.
    cacheOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } },
    saysWhyItEnded: true,
    sift: { event: siftAnthropic, whole: siftWholeAnthropic },
  },
  google: {
    package: '@ai-sdk/google',
    async load() {
      const { createGoogle } = await import('@ai-sdk/google')
      return (settings, model) => createGoogle(settings).chat(model)
    },
    toBaseUrl: withoutSlash,
    options: {},
    saysWhyItEnded: true,
    sift: { event: siftGoogle, whole: siftGoogle },
  },
}

/** Returns the package that a protocol needs if it is not installed. Minimal images may leave it out. */
export function missingPackage({ protocol }: Provider): string | undefined {
  if (protocol === 'chat' || protocol === 'ollama') return undefined
  const { package: name } = vendors[protocol]
  try {
    import.meta.resolve(name)
    return undefined
  } catch {
    return name
  }
}
