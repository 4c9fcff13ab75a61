import type { Config } from '../../config.ts'
import { ReparteeError } from '../../core/errors.ts'
import { openModels } from '../../models/models.ts'
import { builtIn } from '../../models/provider.ts'
import { providersOf } from '../../providers.ts'
import { type Finding, fail, ok } from './finding.ts'

/** Which models the settings make usable. Whether a provider answers is not tried: it would cost money, and nothing leaves the house unasked. */
export function checkModels(config: Config): Finding[] {
  const { model } = config
  const providers = providersOf(config)
  try {
    openModels(providers, { extract: async () => ({ quotes: [], confidence: 0 }) }).find(model)
  } catch (error) {
    if (!(error instanceof ReparteeError)) throw error
    const variable = builtIn[model.split('/', 1)[0]!]
    const advice = variable === undefined ? 'Set REPARTEE_MODEL to a model that can be used.' : `Set ${variable}.`
    return [fail('models', `REPARTEE_MODEL ${error.details?.[0]?.message}`, advice)]
  }
  const names = ['extractive', ...providers.map(({ name }) => `${name}/…`)]
  return [ok('models', `${names.join(', ')}; agents that name none use ${model}`)]
}
