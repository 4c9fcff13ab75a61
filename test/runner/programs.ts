// Programs that tests need in addition to npm packages. Installed once, before the first test file, because package managers lock each other out.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

type Manager = 'apt-get' | 'apk' | 'dnf' | 'brew'
type Packages = Record<Manager, string>

const everywhere = (name: string): Packages => ({ 'apt-get': name, apk: name, dnf: name, brew: name })
const UTIL_LINUX: Packages = { 'apt-get': 'util-linux', apk: 'util-linux-misc', dnf: 'util-linux', brew: 'util-linux' }

/** Packages by program. */
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

/** On Debian, each server version has its own folder for programs. */
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

/** Returns the path of a program that tests need. Throws if it is not installed. */
export function findProgram(name: Program): string {
  const found = find(name)
  if (found === undefined) throw new Error(`${name} is not installed. Install it, or run the tests with npm test, which does.`)
  return found
}

/**
 * Installs all missing programs with one call of the package manager.
 * Throws an error that names the packages if that is impossible.
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
  // Prevents the packages from starting their daemons.
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

/** Returns the prefix that runs a command as root: empty for root, `sudo` if it needs no password, otherwise undefined. */
function toRoot(manager: Manager): string[] | undefined {
  if (process.getuid?.() === 0 || manager === 'brew') return []
  return spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0 ? ['sudo', '-n', '-E'] : undefined
}

function find(name: Program): string | undefined {
  const versions = existsSync(DEBIAN_POSTGRES) ? readdirSync(DEBIAN_POSTGRES).sort((a, b) => Number(b) - Number(a)) : []
  const debian = versions.map((version) => join(DEBIAN_POSTGRES, version, 'bin'))
  // Daemons are in folders that are not on the PATH of ordinary users.
  const folders = [...debian, ...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}
