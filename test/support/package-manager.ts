import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

type Manager = 'apt-get' | 'apk' | 'dnf' | 'brew'

const ARGS: Record<Manager, string[]> = {
  'apt-get': ['install', '-y', '--no-install-recommends'],
  apk: ['add'],
  dnf: ['install', '-y'],
  brew: ['install'],
}

/** Installs a package by whichever of these the machine has, and says so. True as soon as `isThere`. */
export function install(what: string, packages: Record<Manager, string>, isThere: () => boolean): boolean {
  for (const [manager, args] of Object.entries(ARGS) as [Manager, string[]][]) {
    if (spawnSync(manager, ['--version'], { stdio: 'ignore' }).status !== 0) continue
    const command = [...args, packages[manager]]
    console.log(`# ${what} is needed: ${manager} ${command.join(' ')}`)
    if (manager === 'apt-get') spawnSync(manager, ['update'], { stdio: 'ignore' })
    spawnSync(manager, command, { stdio: 'ignore', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })
    if (isThere()) return true
  }
  return false
}

/** The path of a program; installs it where there is none. */
export function findProgram(name: string, packages: Record<Manager, string>): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  const find = () => folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
  if (find() === undefined) install(name, packages, () => find() !== undefined)
  const found = find()
  if (found === undefined) throw new Error(`${name} is not on this machine, and could not be installed: put it on the PATH`)
  return found
}
