import { isUuid } from '../../core/platform/ids.ts'
import { CommandError, exitCodes } from '../command.ts'

/** Rejects anything but a UUID: users may pass the key itself by mistake, and it must not be sent in a URL. */
export function toKeyId(given: string): string {
  if (isUuid(given)) return given.toLowerCase()
  throw new CommandError('A key is named by its id, a UUID: `repartee keys` lists them.', exitCodes.usage)
}
