import { resolve } from 'node:path'
import { loadConfig } from '../config/config.ts'
import { type Command, exitCodes, jsonOption } from './command.ts'
import { Progress } from './progress.ts'
import { plural, printJson } from './show.ts'
import { told } from './told.ts'

export const check: Command = {
  name: 'check',
  usage: '[--json]',
  about: 'Read all data through, whether or not the service runs, and tell what does not fit together.',
  options: jsonOption,
  details:
    'Every message is counted, and every passage analysed anew and compared with the index. Nothing is changed. The exit code is 1 where something is wrong.',
  async run(terminal, { values }) {
    const { check } = await import('../store/backup/check/check.ts')
    const { data, databaseUrl: url, databasePooler: pooler } = loadConfig(terminal.env)
    const place = url === undefined ? { folder: resolve(data) } : { url, pooler }
    const progress = new Progress(terminal)
    const { bases, problems } = await told(() => check(place, (what, done, of) => progress.show(`reading ${what}`, done, of)))
    progress.end()
    if (values['json']) printJson(terminal, { ok: problems.length === 0, bases, problems })
    else if (problems.length === 0) terminal.out(`All conversations and ${plural(bases, 'knowledge base')} are sound.`)
    else for (const { count, what, example } of problems) terminal.out(`${count} ${what}, such as ${example}`)
    return problems.length === 0 ? exitCodes.ok : exitCodes.failed
  },
}
