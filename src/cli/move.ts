import { resolve } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { isDatabase } from '../store/backup/move/place.ts'
import { type Command, CommandError, exitCodes, jsonOption, type Terminal } from './command.ts'
import { Progress } from './progress.ts'
import { plural, printJson } from './show.ts'
import { told } from './told.ts'

export const move: Command = {
  name: 'move',
  usage: '[--from <folder|URL>] [--to <folder|URL>]',
  about: 'Move everything from a data folder into PostgreSQL, or back, while no service uses either.',
  options: {
    from: { type: 'string', value: 'PLACE', about: 'A data folder, or postgres://…; what the settings name where left out.' },
    to: { type: 'string', value: 'PLACE', about: 'The same, for a place that holds nothing yet.' },
    ...jsonOption,
  },
  details: `What was copied is read through on both sides and compared. The place that it came from stays as it is.
Cut off, the same command goes on where it was. A password is better set in PGPASSWORD than in the address:
  REPARTEE_DATABASE_URL=postgres://repartee@db/repartee repartee move --from ./data`,
  async run(terminal, { values }) {
    const { from, to } = placesOf(terminal, values)
    const [{ move }, { openPlaces }] = await Promise.all([
      import('../store/backup/move/move.ts'),
      import('../store/backup/move/open-places.ts'),
    ])
    const progress = new Progress(terminal)
    const tables = await told(async () => {
      const places = await openPlaces(from, to)
      try {
        return await move(places.from, places.to, (what, done, of) => progress.show(what, done, of))
      } finally {
        await places.close()
      }
    })
    progress.end()
    if (values['json']) printJson(terminal, { tables })
    else {
      const rows = tables.reduce((sum, table) => sum + table.rows, 0)
      terminal.out(`Moved, and compared: ${plural(rows, 'row')} of ${plural(tables.length, 'table')}`)
    }
    return exitCodes.ok
  },
}

function placesOf({ env }: Terminal, values: Record<string, unknown>): { from: string; to: string } {
  const { data, databaseUrl } = loadConfig(env)
  const [from, to] = ['from', 'to'].map((name) => {
    const place = (values[name] as string | undefined) ?? databaseUrl ?? data
    return isDatabase(place) ? place : resolve(place)
  }) as [string, string]
  if (from === to) throw new CommandError('Say where to move to, by --to, or where from, by --from.', exitCodes.usage)
  return { from, to }
}
