// What `npm test` runs: checks, all tests with the embedded store, and again on PostgreSQL those that it can change. `npm test -- FILE…` runs these files
// alone, with `--postgres` on PostgreSQL. A run ends, whatever fails in it, and leaves no process and no temporary file behind.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chmodSync, globSync, mkdirSync, constants as modes } from 'node:fs'
import { constants } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from '../support/postgres.ts'
import { FileGuard } from './file-guard.ts'
import { newRunFolder } from './folders.ts'
import { parentOf } from './leftovers.ts'
import { installPrograms } from './programs.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FILES_AT_ONCE = 4
/** Of a test, and of a file of tests: ends what hangs. The slowest machine must not reach it. */
const TEST_TIMEOUT_MS = 900_000
const EMBEDDED = ['test/**/*.test.ts']
/** What is the same on both engines is left out. */
const ON_POSTGRES = [
  'test/spec/!(prompt-injection|prompts|known-faults-content|known-faults-access|4.6-send-message-html|8-limits).test.ts',
  'test/fault/!(clock|memory|overload|slow-readers|threads).test.ts',
]

const { values, positionals } = parseArgs({ allowPositionals: true, options: { postgres: { type: 'boolean', default: false } } })
const REASON_CHARS = 300
const counts = { passed: 0, failed: 0, skipped: 0 }
/** What failed and why, a line each: said once more at the end, where it is found in a long log. */
const failures: string[] = []
// From here on no signal ends this process before it has cleaned up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(128 + constants.signals[signal]))
const folder = newRunFolder()
// Programs that refuse to run as root are given folders in it.
chmodSync(folder, 0o711)
process.env['TMPDIR'] = folder
// The settings of whoever runs the tests are theirs; and a home may be read-only.
process.env['HOME'] = join(folder, 'home')
mkdirSync(process.env['HOME'])
const { npm_config_cache: npmCache } = process.env
if (npmCache !== undefined && !isWritable(npmCache)) process.env['npm_config_cache'] = join(folder, 'npm')
const reaper = [fileURLToPath(new URL('reaper.ts', import.meta.url)), folder]
// For the case that this process is killed. A signal from the terminal must not reach it.
spawn(process.execPath, reaper, { detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
const guard = new FileGuard(folder)

// npm starts a shell, which starts this.
const parents = () => `${process.ppid} ${parentOf(process.ppid)}`
const startedBy = parents()
setInterval(() => parents() === startedBy || end(128 + constants.signals.SIGTERM), 1_000).unref()

try {
  end(await runAll())
} catch (error) {
  console.error((error as Error).message)
  end(1)
}

/** Resolves to the exit code. */
async function runAll(): Promise<number> {
  installPrograms()
  if (positionals.length === 0 && !(await check())) return 1
  process.env['TEST_POSTGRES_URL'] ??= (await startPostgres()).url
  process.env['NODE_COMPILE_CACHE'] ??= join(ROOT, 'node_modules', '.cache', 'repartee-tests')
  if (positionals.length > 0) await runFiles(positionals, values.postgres)
  else {
    await runFiles(EMBEDDED, false)
    await runFiles(ON_POSTGRES, true)
  }
  for (const fault of guard.faults) console.error(fault)
  for (const failure of failures) console.error(`Failed: ${failure}`)
  const { passed, failed, skipped } = counts
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  if (skipped > 0 && process.env['CI'] !== undefined) console.error('Some tests were skipped, which is a failure in CI.')
  return failed > 0 || guard.faults.length > 0 || passed === 0 || (skipped > 0 && process.env['CI'] !== undefined) ? 1 : 0
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, modes.W_OK)
    return true
  } catch {
    return false
  }
}

async function check(): Promise<boolean> {
  const [code] = await once(spawn('npm', ['run', '--silent', 'check'], { cwd: ROOT, stdio: 'inherit' }), 'exit')
  return code === 0
}

async function runFiles(patterns: string[], onPostgres: boolean): Promise<void> {
  if (onPostgres) process.env['TEST_ENGINE'] = 'postgres'
  const files = globSync(patterns, { cwd: ROOT })
    .sort()
    .map((file) => resolve(ROOT, file))
  const preload = new URL('test-file.ts', import.meta.url).href
  const events = run({ files, cwd: ROOT, concurrency: FILES_AT_ONCE, timeout: TEST_TIMEOUT_MS, execArgv: ['--import', preload] })
  guard.watch(events)
  events.on('test:summary', ({ file, counts: { tests, passed, skipped, todo } }) => {
    if (file !== undefined) return
    counts.passed += passed
    counts.failed += tests - passed - skipped - todo
    counts.skipped += skipped
  })
  events.on('test:fail', ({ name, file, details: { error } }) => {
    // One that failed because of a test inside it adds nothing.
    if ('failureType' in error && error.failureType === 'subtestsFailed') return
    const reason = String((error.cause as Error | undefined)?.message ?? error.message)
      .replaceAll(/\s+/g, ' ')
      .trim()
      .slice(0, REASON_CHARS)
    failures.push(`${file === undefined ? '' : `${relative(ROOT, file)}: `}${name}: ${reason}`)
  })
  for await (const text of events.compose(spec)) process.stdout.write(text)
  await guard.settled()
}

/** Leaves when everything that the run started is gone. Waits in the way that lets no other file of tests begin meanwhile. */
function end(code: number): never {
  // Its standard input is a pipe that is closed from the start.
  spawnSync(process.execPath, reaper, { input: '', stdio: ['pipe', 'ignore', 'inherit'] })
  process.exit(code)
}
