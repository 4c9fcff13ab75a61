import { existsSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the folders of the program and its packages: enough to read documents, without access to stored data. */
export function readableFolders(): string[] {
  const program = fileURLToPath(new URL('../../', import.meta.url))
  const folders = [join(program, '*'), join(program, '../package.json')]
  for (let at = dirname(program); at !== dirname(at); at = dirname(at)) {
    const modules = join(at, 'node_modules')
    // A symbolic link, as workspaces create it, is accessed under its own name.
    if (existsSync(modules)) for (const path of new Set([modules, realpathSync(modules)])) folders.push(join(path, '*'))
  }
  return folders
}
