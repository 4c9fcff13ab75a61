import { invalid } from '../core/errors.ts'
import type { Knowledge } from '../core/knowledge.ts'
import type { ChatModel, Models } from '../core/model.ts'
import { EXTRACTIVE, extractiveModel } from './extractive.ts'
import { type OpenAiEndpoint, openAiModel } from './openai.ts'

export interface ModelSettings {
  /** Undefined where no OpenAI key or address is configured. */
  openai: OpenAiEndpoint | undefined
}

/** The models that this deployment can use, by the name that an agent gives them. */
export function openModels(settings: ModelSettings, knowledge: Pick<Knowledge, 'extract'>): Models {
  const known = new Map<string, ChatModel>([[EXTRACTIVE, extractiveModel(knowledge)]])
  const open = (id: string): ChatModel => {
    const [, provider, name] = /^([^/]+)\/(.+)$/s.exec(id) ?? []
    if (provider === 'openai' && name !== undefined) {
      if (settings.openai) return openAiModel(name, settings.openai)
      throw invalid('body.model', `is ${id}, but OPENAI_API_KEY is not set`)
    }
    throw invalid('body.model', `must be "${EXTRACTIVE}" or "openai/NAME"; ${JSON.stringify(id)} is neither`)
  }
  return {
    find(id) {
      let model = known.get(id)
      if (model === undefined) {
        model = open(id)
        known.set(id, model)
      }
      return model
    },
    list() {
      return [...known.keys()].map((id) => ({ id, provider: id.split('/', 1)[0]!, kind: 'chat' as const }))
    },
  }
}
