import { makeKey } from '../../access/key-format.ts'
import { type Command, exitCodes } from '../command.ts'

export const keysGenerate: Command = {
  name: 'keys generate',
  usage: '',
  about: 'Print a new key of the right form, e.g. for REPARTEE_ADMIN_KEY. Nothing is stored; no service is needed.',
  async run(terminal) {
    terminal.out(makeKey())
    return exitCodes.ok
  },
}
