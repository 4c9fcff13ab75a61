import { Cache } from '../core/platform/cache.ts'
import type { EmbeddingModel } from '../core/ports/embedding.ts'
import type { Knowledge } from '../core/ports/knowledge.ts'
import {
  type ChatModel,
  EXTRACTIVE,
  MOST_MODELS,
  type ModelListing,
  type Models,
  splitModelName,
  UnusableModel,
} from '../core/ports/model.ts'
import type { Clock } from '../core/ports/ports.ts'
import { chatCompletionsModel } from './chat-completions.ts'
import { embeddingModel } from './embeddings.ts'
import { extractiveModel } from './extractive.ts'
import { listModels, toListing } from './list-models.ts'
import { localEmbeddings } from './local-embeddings.ts'
import { ollamaModel } from './ollama.ts'
import { builtIn, type Provider } from './provider.ts'
import { vendorModel } from './vendor-model.ts'
import { missingPackage, type VendorProtocol } from './vendors.ts'

/** Prefix of models in the operator's model folder. */
const LOCAL = 'local'
/** How long the providers' lists are cached. */
const LIST_HOLDS_MS = 60_000

/** Opens the models of this deployment by the name in an agent's settings: `PROVIDER/NAME`. `NAME` may contain slashes. */
export function openModels(
  providers: Provider[],
  knowledge: Pick<Knowledge, 'extract'>,
  clock: Clock,
  modelFolder?: string,
): Models {
  const extractive = extractiveModel(knowledge)
  const chat = new Cache<ChatModel>(MOST_MODELS)
  const embeddings = new Cache<EmbeddingModel>(MOST_MODELS)
  let listed: { models: Promise<ModelListing[]>; until: number } | undefined
  const listAll = async () => (await Promise.all(providers.map(listModels))).flat()
  return {
    find: (id) => (id === EXTRACTIVE ? extractive : chat.getOrCreate(id, () => open(id, providers, clock))),
    findEmbedding(id) {
      const [prefix, name] = splitModelName(id)
      return embeddings.getOrCreate(id, () =>
        prefix === LOCAL ? localEmbeddings(name, modelFolder) : openEmbedding(id, providers),
      )
    },
    async list() {
      if (listed === undefined || clock() >= listed.until) listed = { models: listAll(), until: clock() + LIST_HOLDS_MS }
      const found = chat.names.map((id) => toListing(...splitModelName(id)))
      const all = new Map([...(await listed.models), ...found].map((model) => [model.id, model]))
      return [{ id: EXTRACTIVE, provider: EXTRACTIVE, kind: 'chat' }, ...all.values()]
    },
  }
}

function open(id: string, providers: Provider[], clock: Clock): ChatModel {
  const [name, provider] = providerOf(id, providers)
  if (provider.protocol === 'chat') return chatCompletionsModel(name, provider)
  if (provider.protocol === 'ollama') return ollamaModel(name, provider, clock)
  return vendorModel(name, provider as Provider & { protocol: VendorProtocol })
}

function openEmbedding(id: string, providers: Provider[]): EmbeddingModel {
  const [name, provider] = providerOf(id, providers)
  const model = embeddingModel(name, provider)
  if (model === undefined) throw new UnusableModel(`is ${id}, but ${provider.name} has no models that embed`)
  return model
}

/** The name becomes part of the URL. */
const GOOGLE_NAME = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/

function providerOf(id: string, providers: Provider[]): [name: string, provider: Provider] {
  const [prefix, name] = splitModelName(id)
  const provider = providers.find((p) => p.name === prefix)
  const variable = Object.hasOwn(builtIn, prefix) ? builtIn[prefix] : undefined
  if (name === '' || (provider === undefined && variable === undefined)) throw new UnusableModel(unknownName(id, providers))
  if (provider === undefined) throw new UnusableModel(`is ${id}, but ${variable} is not set`)
  const missing = missingPackage(provider)
  if (missing !== undefined)
    throw new UnusableModel(`is ${id}, but the package ${missing} is not installed: npm install ${missing}`)
  if (provider.protocol === 'google' && !GOOGLE_NAME.test(name))
    throw new UnusableModel(`is ${id}, but a name of Google's holds nothing but letters, digits, "-", "_", "." and "/"`)
  return [name, provider]
}

function unknownName(id: string, providers: Provider[]): string {
  const names = new Set([...Object.keys(builtIn), ...providers.map(({ name }) => name)])
  const forms = [...names].map((name) => `"${name}/NAME"`)
  return `must be "${EXTRACTIVE}", ${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}; ${JSON.stringify(id)} is none of them`
}
