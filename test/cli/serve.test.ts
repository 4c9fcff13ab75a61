import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { newId } from '../../src/core/platform/ids.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase } from '../support/postgres.ts'
import { inTerminal } from '../support/pseudo-terminal.ts'
import { repartee, start } from './repartee.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
after(() => rmSync(root, { recursive: true }))
const settings = (data: string, sample = 'off') => ({
  REPARTEE_PORT: '0',
  REPARTEE_DATA: data,
  REPARTEE_SAMPLE: sample,
  REPARTEE_LOG_LEVEL: 'warn',
})

test('a running service leaves a key for its owner alone, and takes it away when it stops', async () => {
  const data = mkdtempSync(join(root, 'data-'))
  const { child, printed, ended } = start(['serve'], settings(data))
  await until('the service is ready', () => /Base URL/.test(printed()))
  const file = join(data, 'local.json')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const { key } = JSON.parse(readFileSync(file, 'utf8'))
  const { stdout } = await repartee(['keys', '--json'], { REPARTEE_DATA: data })
  assert.ok(!stdout.includes(key.slice(0, 12)))
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
  assert.equal(existsSync(file), false)
})

test('the first start tells where everything is, the key and what to do next; a later one how to get a key', async () => {
  const data = mkdtempSync(join(root, 'a folder-'))
  const greeting = async (env: Record<string, string> = {}) => {
    const { child, printed, ended } = start([], { ...settings(data, 'on'), ...env })
    await until('it is ready', () => /its data stays in .*\n/.test(printed()))
    const [, origin] = /Base URL: (\S+)\/v1\n/.exec(printed())!
    const command = printed()
      .split('\n')
      .find((line) => line.startsWith('curl '))!
    // As pasted, wherever that is.
    const ask = () => promisify(execFile)('sh', ['-c', command], { cwd: '/', encoding: 'utf8' })
    // Where the machine is slow, the service is ready before it has read all of the documentation.
    await until('it is answered from the documentation', async () =>
      /"success":true.*in one of four ways/.test((await ask()).stdout),
    )
    for (const path of ['console', 'docs']) assert.ok(printed().includes(`  ${origin}/${path}/\n`), printed())
    child.kill('SIGTERM')
    assert.equal((await ended).code, 0)
    return printed()
  }
  const first = await greeting()
  assert.match(first, /Admin key, shown this once; keep it: {3}rpt_\w{40}\n/)
  assert.match(first, /or run: {3}repartee init\n/)
  const later = await greeting({ npm_lifecycle_event: 'start' })
  assert.match(later, /the one that the first start has shown.*\nnpm start -- keys create --admin\n/)
  assert.match(later, /or run: {3}npm start -- init\n/)
  assert.doesNotMatch(first + later, /\x1b/)
})

test('a terminal gets colours, unless they are not wanted', async () => {
  for (const [env, colours] of [
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ] as const) {
    const data = mkdtempSync(join(root, 'data-'))
    const { child, expect, shown, ended } = inTerminal([], { ...settings(data), ...env })
    await expect('its data stays in')
    assert.equal(/\x1b\[32m/.test(shown()), colours)
    child.stdin!.write('\x03')
    assert.equal(await ended, 0)
  }
})

test('a sample that cannot be made does not keep the service from working, or from stopping', async () => {
  const data = mkdtempSync(join(root, 'data-'))
  mkdirSync(join(data, 'sample.json'))
  const { child, printed, ended } = start([], settings(data, 'on'))
  await until('the service is ready', () => /Base URL/.test(printed()))
  // On its other stream, which may come later.
  await until('it says so', () => /the sample agent could not be made/.test(printed()))
  assert.equal((await repartee(['agents'], { REPARTEE_DATA: data })).code, 0)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('a sample that was deleted under an earlier version is not made again', async () => {
  const data = mkdtempSync(join(root, 'data-'))
  const mark = join(data, 'sample.json')
  writeFileSync(mark, JSON.stringify({ agentId: newId(), sessionId: newId(), complete: true }))
  const { child, printed, ended } = start([], settings(data, 'on'))
  await until('the service is ready', () => /Base URL/.test(printed()))
  await until('its mark is taken over', () => !existsSync(mark))
  assert.match((await repartee(['agents'], { REPARTEE_DATA: data })).stdout, /no agents/i)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
})

test('a start that fails ends at once, with its reason and no password', async (t) => {
  const database = await newDatabase()
  t.after(() => dropDatabase(database))
  const serve = (env: Record<string, string>) => repartee(['serve'], { ...settings(mkdtempSync(join(root, 'data-'))), ...env })
  const noModel = await serve({ REPARTEE_DATABASE_URL: database, REPARTEE_MODEL: 'nobody/nothing' })
  assert.notEqual(noModel.code, 0)
  assert.match(noModel.stderr, /REPARTEE_MODEL/)
  const noServer = await serve({ REPARTEE_DATABASE_URL: 'postgres://someone:secret@127.0.0.1:1/x' })
  assert.notEqual(noServer.code, 0)
  assert.match(noServer.stderr, /the PostgreSQL database cannot be used: connect ECONNREFUSED 127\.0\.0\.1:1/)
  assert.doesNotMatch(noServer.stderr + noServer.stdout, /secret/)
  const noUrl = await serve({ REPARTEE_DATABASE_URL: 'mysql://u:secret@h/d' })
  assert.match(noUrl.stderr, /REPARTEE_DATABASE_URL must be like postgres:/)
  assert.doesNotMatch(noUrl.stderr + noUrl.stdout, /secret/)
  const taken = mkdtempSync(join(root, 'data-'))
  mkdirSync(join(taken, 'local.json'))
  const noFile = await serve({ REPARTEE_DATA: taken })
  assert.equal(noFile.code, 1)
  assert.match(noFile.stderr, /Repartee cannot start: .*local\.json/)
  assert.doesNotMatch(noFile.stderr, / at .*:\d+:\d+/)
})
