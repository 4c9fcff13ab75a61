import type { Config } from '../../config.ts'
import { type Finding, fail, ok } from './finding.ts'

/** Which models the settings make usable. Whether a provider answers is not tried: it would cost money, and nothing leaves the house unasked. */
export function checkModels({ model, openaiApiKey, openaiBaseUrl }: Config): Finding[] {
  const hasOpenai = openaiApiKey !== undefined || openaiBaseUrl !== undefined
  const openai = hasOpenai ? `, openai/… (${openaiBaseUrl === undefined ? 'OPENAI_API_KEY' : 'OPENAI_BASE_URL'})` : ''
  if (model.startsWith('openai/') && !hasOpenai) {
    return [fail('models', `REPARTEE_MODEL is ${model}, but no OpenAI key is set`, 'Set OPENAI_API_KEY, or OPENAI_BASE_URL.')]
  }
  return [ok('models', `extractive${openai}; agents that name none use ${model}`)]
}
