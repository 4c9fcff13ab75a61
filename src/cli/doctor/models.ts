import type { Config } from '../../config/config.ts'
import { providersOf } from '../../config/providers.ts'
import { EXTRACTIVE, whyUnusable } from '../../core/ports/model.ts'
import { noExtract } from '../../core/ports/retrieval.ts'
import { openModels } from '../../models/models.ts'
import { type Finding, fail, ok } from './finding.ts'

/** Checks which models the settings make usable. Does not call providers, because that costs money and sends requests without the user's consent. */
export function checkModels(config: Config): Finding[] {
  const { model } = config
  const providers = providersOf(config)
  const models = openModels(providers, { extract: async () => noExtract }, Date.now)
  const why = whyUnusable(models.find, model)
  if (why !== undefined)
    return [fail('models', `REPARTEE_MODEL ${why}`, 'Put that right, or set REPARTEE_MODEL to a model that can be used.')]
  const names = [EXTRACTIVE, ...providers.map(({ name }) => `${name}/…`)]
  return [ok('models', `${names.join(', ')}; agents that name none use ${model}`)]
}
