import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CommandError } from '../command.ts'
import { describeSkipped, findFiles } from '../knowledge/files.ts'
import { plural } from '../show.ts'
import type { Asker } from './ask.ts'

/** Resolves to a folder with documents. Asks again after a wrong input; a wrong argument ends the command. */
export async function chooseFolder(asker: Asker | undefined, given: string | undefined): Promise<string> {
  for (let tried = given; ; tried = undefined) {
    const folder = tried ?? toPath(await asker!.ask('Which folder holds your documents?'))
    if (folder === '') continue
    const problem = problemOf(folder)
    if (problem === undefined) {
      asker?.say(`  ${plural(findFiles([folder]).files.length, 'document')} there.`)
      return folder
    }
    if (asker === undefined) throw new CommandError(problem)
    asker.say(`  ${problem}`)
  }
}

function problemOf(folder: string): string | undefined {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return `There is no folder ${folder}.`
  const { files, skipped } = findFiles([folder])
  if (files.length > 0) return undefined
  const why = describeSkipped(skipped)
  return `There are no documents in ${folder} (text, Markdown, HTML, PDF, Word, Excel, PowerPoint, CSV or JSON).${why === undefined ? '' : ` ${why}`}`
}

/** Resolves quotes, escaped blanks and `~` as a shell does, because paths are often pasted or dragged. */
function toPath(typed: string): string {
  const bare = /^(['"])(.*)\1$/.exec(typed)?.[2] ?? typed.replace(/\\(.)/g, '$1')
  return bare === '~' || bare.startsWith('~/') ? join(homedir(), bare.slice(1)) : bare
}
