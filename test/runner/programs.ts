// The programs that tests need beyond npm. They are installed once, before the first file of tests: two package managers at a time lock each other out.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

type Manager = 'apt-get' | 'apk' | 'dnf' | 'brew'
type Packages = Record<Manager, string>

const everywhere = (name: string): Packages => ({ 'apt-get': name, apk: name, dnf: name, brew: name })
const UTIL_LINUX: Packages = { 'apt-get': 'util-linux', apk: 'util-linux-misc', dnf: 'util-linux', brew: 'util-linux' }

/** By program: the packages that have it. */
const PROGRAMS = {
  chromium: everywhere('chromium'),
  postgres: { 'apt-get': 'postgresql', apk: 'postgresql', dnf: 'postgresql-server', brew: 'postgresql' },
  initdb: { 'apt-get': 'postgresql', apk: 'postgresql', dnf: 'postgresql-server', brew: 'postgresql' },
  pgbouncer: everywhere('pgbouncer'),
  haproxy: everywhere('haproxy'),
  nginx: { ...everywhere('nginx'), 'apt-get': 'nginx-light' },
  openssl: everywhere('openssl'),
  bash: everywhere('bash'),
  fish: everywhere('fish'),
  zsh: everywhere('zsh'),
  script: { ...UTIL_LINUX, 'apt-get': 'bsdutils' },
  ...(process.platform === 'linux' && { prlimit: UTIL_LINUX, setpriv: { ...UTIL_LINUX, apk: 'setpriv' } }),
} satisfies Record<string, Packages>

export type Program = keyof typeof PROGRAMS

/** Debian keeps the server's programs of each version in a folder of its own. */
const DEBIAN_POSTGRES = '/usr/lib/postgresql'
const LOCK_SECONDS = 600
const INSTALL: Record<Manager, string[][]> = {
  'apt-get': [
    ['update', '-q', '-o', `DPkg::Lock::Timeout=${LOCK_SECONDS}`],
    ['install', '-y', '-q', '--no-install-recommends', '-o', `DPkg::Lock::Timeout=${LOCK_SECONDS}`],
  ],
  apk: [['add', '--no-cache']],
  dnf: [['install', '-y']],
  brew: [['install']],
}

/** The path of a program that tests need. Throws where the machine does not have it. */
export function findProgram(name: Program): string {
  const found = find(name)
  if (found === undefined) throw new Error(`${name} is not installed. Install it, or run the tests with npm test, which does.`)
  return found
}

/**
 * Installs all programs that tests need and the machine does not have, in one call of the package manager.
 * Throws an error that names the packages where that is impossible.
 */
export function installPrograms(): void {
  const missing = (Object.keys(PROGRAMS) as Program[]).filter((name) => find(name) === undefined)
  if (missing.length === 0) return
  const what = `The tests need programs that this machine does not have: ${missing.join(', ')}.`
  const managers = Object.keys(INSTALL) as Manager[]
  const manager = managers.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0)
  const packages = [...new Set(missing.map((name) => PROGRAMS[name]![manager ?? 'apt-get']))].join(' ')
  if (manager === undefined)
    throw new Error(`${what} No known package manager (${managers.join(', ')}) was found. Install these packages: ${packages}`)
  const sudo = toRoot(manager)
  if (sudo === undefined) throw new Error(`${what} Installing them needs root. Run as root: ${manager} install ${packages}`)
  // The daemons that come with the packages are not to be started.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  const commands = INSTALL[manager].map((args) => [...sudo, manager, ...args])
  commands.at(-1)!.push(...packages.split(' '))
  console.log(`${what} Installing them once: ${commands.at(-1)!.join(' ')}`)
  let output = ''
  for (const [program, ...args] of commands) {
    const { stdout, stderr } = spawnSync(program!, args, { env, encoding: 'utf8', maxBuffer: 2 ** 28 })
    output += stdout + stderr
  }
  const left = missing.filter((name) => find(name) === undefined)
  if (left.length > 0)
    throw new Error(`${what} ${manager} did not install ${left.join(', ')}. Its output ends with:\n${output.slice(-2_000)}`)
}

/** What runs a command as root: nothing where we are root, `sudo` where it asks for no password; undefined where neither is possible. */
function toRoot(manager: Manager): string[] | undefined {
  if (process.getuid?.() === 0 || manager === 'brew') return []
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n', '-E'] : undefined
}

function find(name: Program): string | undefined {
  const versions = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES).sort((a, b) => Number(b) - Number(a)) : []
  const debian = versions.map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  // Daemons lie in folders that are not on the path of an ordinary user.
  const folders = [...debian, ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
