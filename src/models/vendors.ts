import type { Protocol, Provider } from './provider.ts'
import { type Sift, siftAnthropic, siftGoogle, siftResponses, siftWholeAnthropic, siftWholeResponses } from './vendor-answers.ts'

export type VendorProtocol = Exclude<Protocol, 'chat' | 'ollama'>

/** The interface that all of the packages implement. */
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
  /** Loads the package, which takes time and memory that only those pay who use it. */
  load(): Promise<(settings: VendorSettings, model: string) => LanguageModel>
  toBaseUrl(baseUrl: string): string
  options: ProviderOptions
  /** For the messages that a prompt may begin with again: the instructions, and all before the newest. */
  cacheOptions?: ProviderOptions
  /** A whole reply that does not say why it ended is not whole. */
  saysWhyItEnded: boolean
  /** For an event of a stream, and for a whole answer. */
  sift: { event: Sift; whole: Sift }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/** What is different between the vendors' packages. */
export const vendors: Record<VendorProtocol, Vendor> = {
  responses: {
    package: '@ai-sdk/openai',
    async load() {
      const { createOpenAI } = await import('@ai-sdk/openai')
      return (settings, model) => createOpenAI(settings).responses(model)
    },
    toBaseUrl: withoutSlash,
    // The conversation is kept here, and nowhere else.
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
    // Anthropic's own libraries want the address without the version, this package with it.
    toBaseUrl: (url) => (/\/v\d+$/.test(withoutSlash(url)) ? withoutSlash(url) : `${withoutSlash(url)}/v1`),
    options: {},
    // The cache ends at a mark: what stands before the newest message begins the next prompt, and is then read at a tenth of the price.
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

/** The package that a protocol needs and that is not installed; an image that does without them may have taken them out. */
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
