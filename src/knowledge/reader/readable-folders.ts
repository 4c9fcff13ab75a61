import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The program itself, and every folder that packages may lie in for it: enough to read documents, and nothing of what it keeps. */
export function readableFolders(): string[] {
  const program = fileURLToPath(new URL('../../', import.meta.url))
  const folders = [join(program, '*'), join(program, '../package.json')]
  for (let at = dirname(program); at !== dirname(at); at = dirname(at)) {
    const modules = join(at, 'node_modules')
    // A link to a folder elsewhere, as workspaces make it, is read under its own name.
    if (existsSync(modules)) for (const path of new Set([modules, realpathSync(modules)])) folders.push(join(path, '*'))
  }
  return folders
}
