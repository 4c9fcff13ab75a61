// Runs `npm test`: checks, all tests with the embedded store, then the tests that PostgreSQL affects. `npm test -- FILE…` runs only these files,
// with `--postgres` on PostgreSQL. A run always ends, and leaves no process and no temporary file.
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
/** Limit for a test and for a test file, against hangs. The slowest machine must not reach it. */
const TEST_TIMEOUT_MS = 900_000
const EMBEDDED = ['test/**/*.test.ts']
/** Without the tests that are the same on both engines. */
const ON_POSTGRES = [
  'test/spec/!(prompt-injection|prompts|hostile-content|access-attacks|4.6-send-message-html|8-limits).test.ts',
  'test/fault/!(clock|memory|overload|slow-readers|threads).test.ts',
]

const { values, positionals } = parseArgs({ allowPositionals: true, options: { postgres: { type: 'boolean', default: false } } })
const REASON_CHARS = 300
const counts = { passed: 0, failed: 0, skipped: 0 }
/** Each failure with its reason, one line each. Printed again at the end, where they are easy to find in a long log. */
const failures: string[] = []
// From here on, a signal ends this process only after the cleanup.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => end(128 + constants.signals[signal]))
const folder = newRunFolder()
// Programs that refuse to run as root use subfolders of it.
chmodSync(folder, 0o711)
process.env['TMPDIR'] = folder
// Tests must not use the user's settings, and the home folder can be read-only.
process.env['HOME'] = join(folder, 'home')
mkdirSync(process.env['HOME'])
const { npm_config_cache: npmCache } = process.env
if (npmCache !== undefined && !isWritable(npmCache)) process.env['npm_config_cache'] = join(folder, 'npm')
const reaper = [fileURLToPath(new URL('reaper.ts', import.meta.url)), folder]
// Cleans up if this process is killed. Detached, because terminal signals must not reach it.
spawn(process.execPath, reaper, { detached: true, stdio: ['pipe', 'ignore', 'inherit'] })
const guard = new FileGuard(folder)

// npm starts a shell, which starts this process.
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
    // A test that failed only because of a subtest adds no information.
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

/** Exits when everything that the run started has ended. Waits synchronously, so that no other test file starts. */
function end(code: number): never {
  // An empty standard input makes the reaper start immediately.
  spawnSync(process.execPath, reaper, { input: '', stdio: ['pipe', 'ignore', 'inherit'] })
  process.exit(code)
}
