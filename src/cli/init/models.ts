import { type Config, loadConfig } from '../../config/config.ts'
import { providersOf } from '../../config/providers.ts'
import { EXTRACTIVE, type ModelListing } from '../../core/ports/model.ts'
import { noExtract } from '../../core/ports/retrieval.ts'
import { openModels } from '../../models/models.ts'
import type { Client } from '../client.ts'
import type { Asker } from './ask.ts'

/** The chat models that can be found without calling a model. */
export interface FoundModels {
  /** One model per provider, the best guess first. Includes `extractive`. */
  models: string[]
  /** Additional settings that the service needs for these models. */
  env: Record<string, string>
}

/** Preferred if the provider has them: fast, and good at following instructions. For other providers, the first listed model is used. */
const PREFERRED = [
  /^openai\/gpt-5-mini$/,
  /^openai\/gpt-[\d.]+-mini$/,
  /^anthropic\/claude-haiku/,
  /^google\/gemini-[\d.]+-flash$/,
]
const OLLAMA = '127.0.0.1:11434'

/** Finds the models of the running service, or of one with these settings and the Ollama on this machine. */
export async function findModels(env: NodeJS.ProcessEnv, running: Client | undefined, ollama = OLLAMA): Promise<FoundModels> {
  if (running !== undefined) {
    const { models } = await running.call<'listModels'>('GET', '/models')
    return { models: oneOfEach(models, undefined), env: {} }
  }
  const config = loadConfig(env)
  const configured = await list(config)
  if (config.ollamaHost !== undefined) return { models: oneOfEach(configured, config.model), env: {} }
  const local = await list(loadConfig({ OLLAMA_HOST: ollama }))
  const ofOllama = local.filter(({ provider, kind }) => provider === 'ollama' && kind === 'chat')
  const models = oneOfEach([...configured, ...ofOllama], config.model)
  return { models, env: ofOllama.length > 0 ? { OLLAMA_HOST: ollama } : {} }
}

const list = (config: Config): Promise<ModelListing[]> =>
  openModels(providersOf(config), { extract: async () => noExtract }, Date.now).list()

function oneOfEach(models: readonly ModelListing[], wanted: string | undefined): string[] {
  const chat = models.filter(({ kind, provider }) => kind === 'chat' && provider !== EXTRACTIVE)
  const best = Object.values(Object.groupBy(chat, ({ provider }) => provider)).map((of) => {
    const ids = of!.map(({ id }) => id)
    return PREFERRED.map((pattern) => ids.find((id) => pattern.test(id))).find((id) => id !== undefined) ?? ids[0]!
  })
  const first = wanted === undefined || wanted === EXTRACTIVE ? [] : [wanted]
  return [...new Set([...first, ...best, EXTRACTIVE])]
}

export async function chooseModel(asker: Asker | undefined, given: string | undefined, { models }: FoundModels): Promise<string> {
  if (given !== undefined) return given
  if (asker === undefined) return models[0]!
  asker.say('')
  for (const [i, model] of models.entries()) asker.say(`  ${i + 1}) ${model}${model === EXTRACTIVE ? ABOUT_EXTRACTIVE : ''}`)
  if (models.length === 1)
    asker.say('  (A provider is found by its key, such as OPENAI_API_KEY, and an Ollama that runs here by itself.)')
  for (;;) {
    const typed = await asker.ask('Which model writes the replies? A number, or provider/name:', '1')
    const chosen = /^\d{1,2}$/.test(typed) ? models[Number(typed) - 1] : typed
    if (chosen !== undefined) return chosen
    asker.say(`  There is no model ${typed}.`)
  }
}

const ABOUT_EXTRACTIVE = '   built in: quotes your documents word for word, needs no key, and nothing leaves this machine'
