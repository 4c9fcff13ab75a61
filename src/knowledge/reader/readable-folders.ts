import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program itself, and every folder that packages may lie in for it: enough to read documents, and nothing of what it keeps. */
export function readableFolders(): string[] {
  const program = fileURLToPath(new URL('../../', import.meta.url))
  const folders = [join(program, '*'), join(program, '../package.json')]
  for (let at = dirname(program); at !== dirname(at); at = dirname(at)) {
    const modules = join(at, 'node_modules')
    if (existsSync(modules)) folders.push(join(modules, '*'))
  }
  return folders
}
