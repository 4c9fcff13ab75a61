import { isUuid } from '../../core/platform/ids.ts'
import { CommandError, exitCodes } from '../command.ts'

/** A key itself in place of its id is a likely slip, and must not travel in a URL. */
export function toKeyId(given: string): string {
  if (isUuid(given)) return given.toLowerCase()
  throw new CommandError('A key is named by its id, a UUID: `repartee keys` lists them.', exitCodes.usage)
}
