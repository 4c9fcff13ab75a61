import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { lockFolder } from '../../src/store/sqlite/lock.ts'
import { dropDatabase, newDatabase } from '../support/postgres.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const KEY = /^rpt_[0-9A-Za-z]{40}\n$/

test('keys generate prints a key that REPARTEE_ADMIN_KEY takes, and touches nothing', async (t) => {
  const data = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
  t.after(() => rmSync(data, { recursive: true }))
  const { code, stdout } = await repartee(['keys', 'generate'], { REPARTEE_DATA: data })
  assert.equal(code, 0)
  assert.match(stdout, KEY)
  assert.deepEqual(readdirSync(data), [])
  const doctor = await repartee(['doctor', '--json'], { REPARTEE_DATA: data, REPARTEE_ADMIN_KEY: stdout.trim() })
  assert.equal(JSON.parse(doctor.stdout).checks.find(({ name }: { name: string }) => name === 'settings').state, 'ok')
})

describe('beside a running service', { skip: needsProcess }, () => {
  let service: Service
  let env: Record<string, string>
  before(async () => {
    service = await startService()
    env = { REPARTEE_DATA: service.data }
  })
  after(() => service.stop())
  const works = async (key: string, path = '/agents') => (await service.client.as(key).get(path)).status
  const list = async () => JSON.parse((await repartee(['keys', '--json'], env)).stdout).keys

  test('a key is created with its scopes, agents and end; stdout holds the key alone', async () => {
    const agentId = await service.newAgent({ name: 'Website' })
    const other = await service.newAgent({ name: 'Intern' })
    const args = ['keys', 'create', 'web', '--scopes', 'chat,read', '--agents', 'Website', '--expires', '90d']
    args.push('--tokens-per-day', '5000', '--cost-per-day', '1.5')
    const { code, stdout, stderr } = await repartee(args, env)
    assert.equal(code, 0, stderr)
    assert.match(stdout, KEY)
    assert.match(stderr, /Key "web" \(chat, read; 1 of the agents; until .*Shown this once/)
    assert.equal(await works(stdout.trim(), `/agents/${agentId}`), 200)
    assert.equal(await works(stdout.trim(), `/agents/${other}`), 404)

    const [key] = (await list()).filter(({ name }: { name: string }) => name === 'web')
    assert.deepEqual(key.scopes, ['chat', 'read'])
    assert.deepEqual(key.agentIds, [agentId])
    assert.deepEqual(key.budget, { tokensPerDay: 5000, costPerDay: 1.5 })
    const days = (Date.parse(key.expiresAt) - Date.now()) / 86_400_000
    assert.ok(days > 89.9 && days <= 90, key.expiresAt)
    const table = await repartee(['keys'], env)
    assert.match(table.stdout, new RegExp(`^${key.id} .*chat,read .*web$`, 'm'))
    assert.doesNotMatch(table.stdout, new RegExp(stdout.trim()))
  })

  test('a key ends with its revocation', async () => {
    const { stdout } = await repartee(['keys', 'create', 'short', '--scopes', 'read', '--json'], env)
    const { key, secret } = JSON.parse(stdout)
    assert.equal(await works(secret), 200)
    assert.equal((await repartee(['keys', 'revoke', key.id], env)).code, 0)
    assert.equal(await works(secret), 401)
  })

  test('a rolled key is replaced by one with the same rights; without overlap the old one ends at once', async () => {
    const { key, secret } = JSON.parse((await repartee(['keys', 'create', 'rolling', '--scopes', 'read', '--json'], env)).stdout)
    const rolled = await repartee(['keys', 'roll', key.id, '--overlap', '0s'], env)
    assert.equal(rolled.code, 0, rolled.stderr)
    assert.equal(await works(rolled.stdout.trim()), 200)
    assert.equal(await works(secret), 401)
  })

  test('keys create --admin makes an admin key', async () => {
    const { stdout } = await repartee(['keys', 'create', '--admin', 'second'], env)
    assert.equal(await works(stdout.trim(), '/keys'), 200)
  })

  const slips: { args: string[]; says: RegExp }[] = [
    { args: ['create', 'web'], says: /--scopes admin,chat,read,knowledge/ },
    { args: ['create', 'web', '--scopes', 'chta'], says: /no scope "chta"\. Did you mean "chat"\?/ },
    { args: ['create', '--scopes', 'chat'], says: /what the key is for/ },
    { args: ['create', 'web', '--scopes', 'chat', '--expires', 'tomorrow'], says: /"tomorrow" is no time/ },
    { args: ['create', '--admin', '--scopes', 'chat'], says: /leave out --scopes/ },
    { args: ['create', 'x', '--scopes', 'chat', '--cost-per-day', 'much'], says: /--cost-per-day must be a number above 0/ },
    { args: ['revoke', 'rpt_whatever'], says: /named by its id/ },
    { args: ['roll', '01a1fb80-0000-7000-8000-000000000001', '--overlap', 'long'], says: /"long" is no span/ },
  ]
  for (const { args, says } of slips) {
    test(`\`keys ${args.join(' ')}\` is wrong usage and makes no key`, async () => {
      const before = (await list()).length
      const { code, stdout, stderr } = await repartee(['keys', ...args], env)
      assert.equal(code, 2, stderr)
      assert.match(stderr, says)
      assert.equal(stdout, '')
      assert.equal((await list()).length, before)
    })
  }

  test('an empty list of agents is refused, and does not mean all', async () => {
    const { code } = await repartee(['keys', 'create', 'web', '--scopes', 'chat', '--agents', ','], env)
    assert.notEqual(code, 0)
  })
})

describe('keys create --admin on the data folder of a stopped service', { skip: needsProcess }, () => {
  const adminKey = (data: string) => repartee(['keys', 'create', '--admin'], { REPARTEE_DATA: data })

  test('makes a key that works after the next start', async (t) => {
    const service = await startService()
    t.after(service.stop)
    await service.end('SIGTERM')
    const { code, stdout, stderr } = await adminKey(service.data)
    assert.equal(code, 0, stderr)
    await service.restart()
    assert.equal((await service.client.as(stdout.trim()).get('/keys')).status, 200)
  })

  test('does so too where a crash left the file of a running one', async (t) => {
    const service = await startService()
    t.after(service.stop)
    await service.kill()
    assert.ok(existsSync(join(service.data, 'local.json')))
    const { code, stdout, stderr } = await adminKey(service.data)
    assert.equal(code, 0, stderr)
    await service.restart()
    assert.equal((await service.client.as(stdout.trim()).get('/keys')).status, 200)
  })

  test('is refused while another process holds the folder and no service answers', async (t) => {
    const service = await startService()
    t.after(service.stop)
    await service.end('SIGTERM')
    const lock = lockFolder(service.data)
    t.after(lock.release)
    const { code, stdout, stderr } = await adminKey(service.data)
    assert.equal(code, 4)
    assert.match(stderr, /in use by another process, and no service answers/)
    assert.equal(stdout, '')
  })

  test('is refused in a folder without data, where nothing is made', async (t) => {
    const data = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
    t.after(() => rmSync(data, { recursive: true }))
    const { code, stderr } = await adminKey(data)
    assert.equal(code, 4)
    assert.match(stderr, /holds no data/)
    assert.deepEqual(readdirSync(data), [])
  })
})

test('keys create --admin in the PostgreSQL database of a stopped service makes a key that works after the next start', async (t) => {
  const database = await newDatabase()
  t.after(() => dropDatabase(database))
  const service = await startService({ REPARTEE_DATABASE_URL: database })
  t.after(service.stop)
  await service.end('SIGTERM')
  const env = { REPARTEE_DATA: service.data, REPARTEE_DATABASE_URL: database }
  const { code, stdout, stderr } = await repartee(['keys', 'create', '--admin'], env)
  assert.equal(code, 0, stderr)
  await service.restart()
  assert.equal((await service.client.as(stdout.trim()).get('/keys')).status, 200)
  const away = await repartee(['keys', 'create', '--admin'], {
    ...env,
    REPARTEE_URL: '',
    REPARTEE_DATABASE_URL: 'postgres://u:pass@127.0.0.1:1/x',
    REPARTEE_DATA: tmpdir(),
  })
  assert.equal(away.code, 4)
  assert.match(away.stderr, /the PostgreSQL database cannot be used: connect ECONNREFUSED/)
  assert.doesNotMatch(away.stderr, /pass/)
})
