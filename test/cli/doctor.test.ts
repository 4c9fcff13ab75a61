import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { makeKey, needsProcess, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
after(() => rmSync(folder, { recursive: true }))

interface Report {
  ok: boolean
  checks: { name: string; state: string; message: string; advice?: string }[]
  settings: { name: string; value: unknown; from: string }[]
}

async function examine(env: Record<string, string>): Promise<Report & { code: number | null; text: string }> {
  const { code, stdout } = await repartee(['doctor', '--json'], { REPARTEE_PORT: '0', REPARTEE_DATA: folder, ...env })
  return { code, text: stdout, ...(JSON.parse(stdout) as Report) }
}
const named = <T extends { name: string }>(list: T[], name: string) => list.find((item) => item.name === name)!

test('a healthy machine is told so, line by line, and nothing is changed', async () => {
  const data = join(folder, 'not-yet-there')
  const { code, stdout } = await repartee(['doctor'], { REPARTEE_PORT: '0', REPARTEE_DATA: data })
  assert.equal(code, 0, stdout)
  for (const name of ['Node.js', 'settings', 'data folder', 'disk', 'port', 'store', 'models']) {
    assert.match(stdout, new RegExp(`^ {2}(ok|warn) +${name}: `, 'm'))
  }
  assert.equal(existsSync(data), false)
})

test('each setting is shown with its value and with where it comes from', async () => {
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify({ maxNameChars: 77, drainMs: 5 }))
  const { settings } = await examine({ REPARTEE_CONFIG: file, REPARTEE_DRAIN_MS: '6' })
  assert.deepEqual(named(settings, 'REPARTEE_MAX_NAME_CHARS'), { name: 'REPARTEE_MAX_NAME_CHARS', value: 77, from: 'file' })
  assert.deepEqual(named(settings, 'REPARTEE_DRAIN_MS'), { name: 'REPARTEE_DRAIN_MS', value: 6, from: 'environment' })
  assert.deepEqual(named(settings, 'REPARTEE_HOST'), { name: 'REPARTEE_HOST', value: '127.0.0.1', from: 'default' })
})

test('secrets are never shown', async () => {
  const key = makeKey()
  const file = join(folder, 'secret')
  writeFileSync(file, 'sk-the-secret\n')
  const env = { REPARTEE_ADMIN_KEY: key, OPENAI_API_KEY_FILE: file, OPENAI_BASE_URL: 'http://me:hush@127.0.0.1:9/v1' }
  const { settings, text } = await examine(env)
  assert.equal(named(settings, 'OPENAI_API_KEY').from, 'environment (OPENAI_API_KEY_FILE)')
  assert.equal(named(settings, 'REPARTEE_ADMIN_KEY').value, '(set)')
  const plain = (await repartee(['doctor'], { REPARTEE_DATA: folder, ...env })).stdout
  for (const secret of [key, 'sk-the-secret', 'hush']) assert.ok(!text.includes(secret) && !plain.includes(secret), secret)
})

test('settings that cannot be used are a fail that names each of them: exit code 1', async () => {
  const { code, ok, checks } = await examine({ REPARTEE_PORT: 'eighty', REPARTEE_SAMPLE: 'perhaps' })
  assert.equal(code, 1)
  assert.equal(ok, false)
  const { state, message } = named(checks, 'settings')
  assert.equal(state, 'fail')
  assert.match(message, /REPARTEE_PORT.*REPARTEE_SAMPLE/s)
})

test('a mistyped name in the environment is a warning with the nearest name, and no failure', async () => {
  const { code, checks } = await examine({ REPARTEE_PROT: '80' })
  assert.equal(code, 0)
  const { state, message, advice } = named(checks, 'settings')
  assert.deepEqual([state, message, advice], ['warn', 'REPARTEE_PROT is not a setting', 'Did you mean REPARTEE_PORT?'])
})

test('a port that is taken is a fail', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const { code, checks } = await examine({ REPARTEE_PORT: String(port) })
  assert.equal(code, 1)
  assert.match(named(checks, 'port').message, /is taken/)
  assert.match(named(checks, 'port').advice!, /REPARTEE_PORT/)
})

test('a data folder that is a file is a fail', async () => {
  const file = join(folder, 'a-file')
  writeFileSync(file, '')
  const { code, checks } = await examine({ REPARTEE_DATA: file })
  assert.equal(code, 1)
  assert.equal(named(checks, 'data folder').state, 'fail')
})

test('a default model without its key is a fail', async () => {
  const { code, checks } = await examine({ REPARTEE_MODEL: 'openai/some' })
  assert.equal(code, 1)
  assert.match(named(checks, 'models').message, /^REPARTEE_MODEL is openai\/some, but OPENAI_API_KEY is not set$/)
})

test('a running service is found; once it is stopped its files are read through', { skip: needsProcess }, async (t) => {
  const service = await startService()
  t.after(service.stop)
  const env = { REPARTEE_DATA: service.data }
  const running = await examine(env)
  assert.equal(running.code, 0, running.text)
  assert.match(named(running.checks, 'service').message, /answers at/)
  await service.end('SIGTERM')
  const stopped = await examine(env)
  assert.equal(stopped.code, 0, stopped.text)
  assert.match(named(stopped.checks, 'store').message, /^sound/)
})

test('what a crash leaves behind is told, and is no failure', { skip: needsProcess }, async (t) => {
  const service = await startService()
  t.after(service.stop)
  await service.kill()
  const { code, checks } = await examine({ REPARTEE_DATA: service.data })
  assert.equal(code, 0)
  assert.equal(named(checks, 'service').state, 'warn')
})

test('a damaged file is a fail that names it', { skip: needsProcess }, async (t) => {
  const service = await startService()
  t.after(service.stop)
  await service.end('SIGTERM')
  const path = join(service.data, 'repartee.db')
  const bytes = readFileSync(path)
  bytes.fill(0xff, 8_192, 5 * 8_192)
  writeFileSync(path, bytes)
  const { code, checks } = await examine({ REPARTEE_DATA: service.data })
  assert.equal(code, 1)
  assert.match(named(checks, 'store').message, /repartee\.db is damaged/)
  assert.match(named(checks, 'store').advice!, /backup/)
})

test('a PostgreSQL database is looked at and left as it is; one that cannot be used is a fail that tells why', async (t) => {
  const database = await newDatabase()
  t.after(() => dropDatabase(database))
  const store = async (url: string) => named((await examine({ REPARTEE_DATABASE_URL: url })).checks, 'store')
  assert.match((await store(database)).message, /^PostgreSQL \d+.*, no data yet$/)
  assert.deepEqual(await query(database, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), [])
  await query(database, 'CREATE TABLE schema_version AS SELECT 2 AS version')
  assert.match((await store(database)).message, /, schema 2$/)
  const away = await store('postgres://someone:secret@127.0.0.1:1/x')
  assert.deepEqual(
    [away.state, away.message],
    ['fail', 'the PostgreSQL database cannot be used: connect ECONNREFUSED 127.0.0.1:1'],
  )
})

test('REPARTEE_URL without REPARTEE_KEY is a fail, and the rest is looked at all the same', async () => {
  const { code, checks } = await examine({ REPARTEE_URL: 'http://127.0.0.1:9' })
  assert.equal(code, 1)
  assert.match(named(checks, 'service').message, /REPARTEE_KEY/)
  assert.equal(named(checks, 'port').state, 'ok')
})

test('REPARTEE_URL that leads nowhere is a fail', async () => {
  const { code, checks } = await examine({ REPARTEE_URL: 'http://127.0.0.1:9', REPARTEE_KEY: 'rpt_x' })
  assert.equal(code, 1)
  assert.match(named(checks, 'service').message, /nothing answers/)
})
