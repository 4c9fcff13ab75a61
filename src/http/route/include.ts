import type { ApiKey } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import type { Extra } from '../../core/message.ts'

/** Extras that show how the agent works and what it costs. */
const FOR_KEYS: readonly string[] = ['trace', 'usage']

/** Throws `forbidden` if a user token asks for an extra that is for API keys only. */
export function checkInclude({ userId }: ApiKey, include: readonly string[]): void {
  const refused = include.find((extra) => FOR_KEYS.includes(extra))
  if (userId !== undefined && refused !== undefined)
    throw new ReparteeError('forbidden', `\`include\` may not name \`${refused}\` with a token of a user. Ask with an API key.`)
}

/** Returns the extras that the reader may see. A user token may read a message that an API key sent. */
export function visibleTo({ userId }: ApiKey, include: readonly Extra[]): ReadonlySet<Extra> {
  return new Set(userId === undefined ? include : include.filter((extra) => !FOR_KEYS.includes(extra)))
}
