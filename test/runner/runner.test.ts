// Tests of the test run: it always ends, and leaves nothing.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launch } from '../support/cleanup.ts'
import { until } from '../support/poll.ts'
import { processesOf } from './leftovers.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const PROGRAMS = new URL('programs.ts', import.meta.url).href
const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/runner/${name}.ts`, import.meta.url))

interface Run {
  child: ChildProcess
  /** Folder for temporary files. */
  folder: string
  printed(): string
  ended: Promise<number | null>
}

/** Runs these files like `npm test`. `by` is a command that starts the run. */
function startRun(names: string[], options = {}): Run {
  return startFiles(names.map(fixture), options)
}

function startFiles(files: string[], { by = [] as string[], env = {} } = {}): Run {
  const folder = mkdtempSync(join(tmpdir(), 'run-'))
  // PostgreSQL runs as another user if we are root.
  chmodSync(folder, 0o711)
  const [command, ...args] = [...by, process.execPath, MAIN, ...files]
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const child = launch(command!, args, {
    env: { ...inherited, TMPDIR: folder, TEST_ENDS_WITHIN_MS: '1000', ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const output of [child.stdout!, child.stderr!]) output.setEncoding('utf8').on('data', (text: string) => (printed += text))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, folder, printed: () => printed, ended }
}

const nothingIsLeft = ({ folder }: Run) =>
  until('nothing is left', () => readdirSync(folder).length === 0 && processesOf(folder).length === 0)

describe('a run of tests', () => {
  test('ends and fails where a file leaves a process behind, and names both', async () => {
    const run = startRun(['leaves-a-process'])
    assert.equal(await run.ended, 1)
    assert.match(run.printed(), /fixtures\.runner\.leaves-a-process\.ts left processes behind.*\n {2}\d+ .*left behind/)
    assert.match(run.printed(), /\n1 passed, 0 failed, 0 skipped\n/)
    await nothingIsLeft(run)
  })

  test('ends and fails where a file does not end, and says what that has open', async () => {
    const run = startRun(['keeps-a-server'])
    assert.equal(await run.ended, 1)
    assert.match(run.printed(), /keeps-a-server\.ts did not end after its last test\. It keeps open: .*TCPServerWrap/)
    await nothingIsLeft(run)
  })

  test('ends where a set-up fails, although one thing cannot be ended', async () => {
    const run = startRun(['fails-early'])
    assert.equal(await run.ended, 1)
    assert.match(run.printed(), /the set-up fails/)
    assert.match(run.printed(), /what cannot be ended did not end/)
    assert.doesNotMatch(run.printed(), /left processes behind|did not end after/)
    await nothingIsLeft(run)
  })

  test('ends with what failed and why, once for each test', async () => {
    const run = startRun(['fails'])
    assert.equal(await run.ended, 1)
    const [, ...failed] = run.printed().split('Failed: ')
    assert.deepEqual(failed, [
      'test/fixtures/runner/fails.ts: fails: Expected values to be strictly equal: 1 !== 2\n0 passed, 1 failed, 0 skipped\n',
    ])
  })

  for (const [how, interrupt, by] of [
    ['by the keys of a terminal', ({ child }: Run) => process.kill(-child.pid!, 'SIGINT')],
    ['by a signal', ({ child }: Run) => child.kill('SIGTERM')],
    ['by force', ({ child }: Run) => child.kill('SIGKILL')],
    ['by the death of its shell', ({ child }: Run) => child.kill('SIGKILL'), ['sh', '-c', '"$@"; true', 'sh']],
    [
      'by the death of what runs its shell',
      ({ child }: Run) => child.kill('SIGKILL'),
      ['sh', '-c', `sh -c '"$@"; true' sh "$@"; true`, 'sh'],
    ],
  ] as [string, (run: Run) => void, string[]?][])
    test(`leaves nothing behind when it is interrupted ${how}`, async () => {
      const run = startRun(['hangs'], { by: by ?? [] })
      await until(
        'everything runs',
        () => processesOf(run.folder).filter(({ command }) => /start\.js|SIGHUP/.test(command)).length >= 2,
      )
      interrupt(run)
      assert.notEqual(await run.ended, 0)
      await nothingIsLeft(run)
    })
})

test('an interrupted run begins no other file, and ends when nothing is left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'many-'))
  const files = Array.from({ length: 24 }, (_, i) => join(folder, `${i}.ts`))
  for (const file of files)
    writeFileSync(
      file,
      "import { test } from 'node:test'\ntest('hangs', () => new Promise(() => setInterval(() => {}, 1_000)))\n",
    )
  const run = startFiles(files)
  await until('some run', () => processesOf(run.folder).filter(({ command }) => command.includes('/many-')).length >= 4)
  const exit = once(run.child, 'exit')
  process.kill(-run.child.pid!, 'SIGINT')
  await exit
  assert.deepEqual(readdirSync(run.folder), [])
  assert.deepEqual(processesOf(run.folder), [])
})

describe('programs that the tests need', () => {
  /** Creates a machine with only Node and these commands, which are shell scripts. */
  function machineWith(commands: Record<string, string>): string {
    const folder = mkdtempSync(join(tmpdir(), 'machine-'))
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    symlinkSync(process.execPath, join(bin, 'node'))
    for (const [name, script] of Object.entries(commands)) {
      writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`)
      chmodSync(join(bin, name), 0o755)
    }
    return bin
  }
  const install = (bin: string, uid: number) =>
    new Promise<{ error: Error | null; output: string }>((resolve) => {
      const script = `process.getuid = () => ${uid}; (await import('${PROGRAMS}')).installPrograms()`
      execFile(process.execPath, ['--input-type=module', '-e', script], { env: { PATH: bin } }, (error, stdout, stderr) =>
        resolve({ error, output: stdout + stderr }),
      )
    })

  test('without a known package manager, the packages are named', async () => {
    const { error, output } = await install(machineWith({}), 0)
    assert.ok(error !== null)
    assert.match(output, /needs? programs that this machine does not have: .*fish/)
    assert.match(output, /No known package manager .* was found\. Install these packages: .*chromium.*fish.*zsh/)
  })

  test('without root, the command is named that root has to run', async () => {
    const { error, output } = await install(machineWith({ 'apt-get': 'exit 0', sudo: 'exit 1' }), 1_000)
    assert.ok(error !== null)
    assert.match(output, /Installing them needs root\. Run as root: apt-get install .*chromium.*fish.*zsh/)
  })

  test('all are installed in one call, after the lists of packages', async () => {
    const bin = machineWith({})
    const log = join(bin, '..', 'log')
    const found = `for p in chromium postgres initdb pgbouncer haproxy nginx openssl bash fish zsh script prlimit setpriv; do : > ${bin}/$p; done`
    writeFileSync(join(bin, 'apt-get'), `#!/bin/sh\necho "$@" >> ${log}\n[ "$1" != install ] || { ${found}; }\n`, { mode: 0o755 })
    const { error, output } = await install(bin, 0)
    assert.equal(error, null, output)
    const calls = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .filter((call) => !call.startsWith('--version'))
    assert.equal(calls.length, 2)
    assert.match(calls[0]!, /^update /)
    assert.match(calls[1]!, /^install .*chromium.*fish.*zsh/)
    assert.match(output, /The tests need programs that this machine does not have: .*Installing them once: apt-get install/)
  })
})
