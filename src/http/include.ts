import type { ApiKey } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'

/** They tell how the agent works and what it costs: passages that were not cited, models, attempts, money. */
const FOR_KEYS: readonly string[] = ['trace', 'usage']

/** Throws `forbidden` where an end user asks for more than the reply and its sources. */
export function checkInclude({ userId }: ApiKey, include: readonly string[]): void {
  const refused = include.find((extra) => FOR_KEYS.includes(extra))
  if (userId !== undefined && refused !== undefined)
    throw new ReparteeError('forbidden', `\`include\` may not name \`${refused}\` with a token of a user. Ask with an API key.`)
}
