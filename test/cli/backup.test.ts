import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-backup-'))
after(() => rmSync(root, { recursive: true }))
let made = 0
const folder = () => join(root, `folder-${++made}`)
const backup = (data: string, target: string) => repartee(['backup', target], { REPARTEE_DATA: data })
const restore = (source: string, data: string) => repartee(['restore', source], { REPARTEE_DATA: data })

describe('a backup', { skip: needsProcess }, () => {
  test('made while messages and documents come in is restored to what it was at one moment', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const { client } = service
    const agent = await service.newAgent()
    const session = await service.newSession(agent)
    isOk(await client.post(`/agents/${agent}/documents`, { markdown: '# Kettle\n\nThe kettle weighs 900 grams.' }), 202)
    await until(
      'it is ready',
      async () => (await client.get(`/agents/${agent}/documents?status=ready`)).body.pagination.total === 1,
    )
    isOk(await client.post(`${session}/messages`, { message: 'before' }))
    let isOver = false
    let sent = 0
    const busy = (async () => {
      while (!isOver) {
        isOk(await client.post(`${session}/messages`, { message: `message ${sent++}` }))
        isOk(
          await client.post(`/agents/${agent}/documents`, {
            markdown: `# Note ${sent}\n\nNote ${sent} is about walnut ${sent}.`,
          }),
          202,
        )
      }
    })()
    await until('there is some', () => sent > 3)
    const target = folder()
    const { code, stdout, stderr } = await backup(service.data, target)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Backed up to .*: \d+ files, \d+ kB$/m)
    isOver = true
    await busy

    const data = folder()
    assert.equal((await restore(target, data)).code, 0)
    assert.equal(statSync(data).mode & 0o777, 0o700)
    const restored = await startService({ REPARTEE_DATABASE_URL: '', REPARTEE_DATA: data, REPARTEE_ADMIN_KEY: client.key })
    after(restored.stop)
    const messages = (await restored.client.get(`${session}/messages?limit=100`)).body.messages as {
      role: string
      content: string
    }[]
    assert.equal(messages[0]!.content, 'before')
    for (const [i, { role }] of messages.entries()) assert.equal(role, i % 2 === 0 ? 'USER' : 'AI')
    assert.ok(messages.length >= 8)
    const documents = `/agents/${agent}/documents`
    const total = (await restored.client.get(documents)).body.pagination.total as number
    assert.ok(total > 3)
    await until(
      'all documents are ready',
      async () => (await restored.client.get(`${documents}?status=ready`)).body.pagination.total === total,
    )
    const { hits } = (await restored.client.post(`/agents/${agent}/search`, { query: 'How heavy is the kettle?' })).body
    assert.match(hits[0].text, /900 grams/)
  })

  test('that was changed or cut off is refused, and nothing is put into the folder', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    await service.newSession(await service.newAgent())
    const target = folder()
    assert.equal((await backup(service.data, target)).code, 0)
    const file = join(target, 'repartee.db')
    const bytes = readFileSync(file)
    bytes[bytes.length - 100]! ^= 1
    writeFileSync(file, bytes)
    const data = folder()
    const changed = await restore(target, data)
    assert.equal(changed.code, 1)
    assert.match(changed.stderr, /repartee\.db is not what was backed up/)
    rmSync(join(target, 'backup.json'))
    assert.match((await restore(target, data)).stderr, /is not a whole backup: it has no backup\.json/)
    assert.deepEqual(readdirSync(data), ['lock'])
  })

  test('that names files outside of it, or those of a running process, or has links in it, is refused', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const outside = join(root, 'outside')
    writeFileSync(outside, 'x')
    const sha256 = createHash('sha256').update('x').digest('hex')
    for (const [path, change] of [
      [outside, () => {}],
      ['../outside', () => {}],
      ['knowledge/../../outside', () => {}],
      ['local.json', (target: string) => writeFileSync(join(target, 'local.json'), 'x')],
      ['knowledge/a.db-wal', (target: string) => writeFileSync(join(target, 'knowledge', 'a.db-wal'), 'x')],
      ['link.db', (target: string) => symlinkSync(outside, join(target, 'link.db'))],
      ['folder/outside', (target: string) => symlinkSync(root, join(target, 'folder'))],
    ] as const) {
      const [target, data] = [folder(), folder()]
      assert.equal((await backup(service.data, target)).code, 0)
      mkdirSync(join(target, 'knowledge'), { recursive: true })
      change(target)
      const manifest = JSON.parse(readFileSync(join(target, 'backup.json'), 'utf8'))
      manifest.files.push({ path, bytes: 1, sha256 })
      writeFileSync(join(target, 'backup.json'), JSON.stringify(manifest))
      const { code, stderr } = await restore(target, data)
      assert.equal(code, 1, path)
      assert.match(stderr, /is no file of a backup|but a link or a folder/)
      assert.deepEqual(existsSync(data) ? readdirSync(data).filter((name) => name !== 'lock') : [], [])
    }
  })

  test('of a damaged database is refused, and names it', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    await service.end('SIGTERM')
    const path = join(service.data, 'repartee.db')
    const bytes = readFileSync(path)
    bytes.fill(0xff, 8_192, 5 * 8_192)
    writeFileSync(path, bytes)
    const { code, stderr } = await backup(service.data, folder())
    assert.equal(code, 1)
    assert.match(stderr, /repartee\.db is damaged/)
  })

  test('that would miss something is refused, and names it', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const [linked, taken] = [join(service.data, 'linked.db'), join(service.data, 'taken.db')]
    symlinkSync(join(root, 'elsewhere.db'), linked)
    const refused = await backup(service.data, folder())
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /linked\.db is no file, and would be missing from the backup/)
    rmSync(linked)
    mkdirSync(taken)
    assert.match((await backup(service.data, folder())).stderr, /taken\.db is no file/)
  })

  test('whose list of files says nothing is refused', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const target = folder()
    assert.equal((await backup(service.data, target)).code, 0)
    writeFileSync(join(target, 'backup.json'), 'null')
    assert.match((await restore(target, folder())).stderr, /made by another version of Repartee/)
  })

  test('does not go beside what is left of other data, whose logs would be written into it', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const target = folder()
    assert.equal((await backup(service.data, target)).code, 0)
    for (const left of ['repartee.db-wal', 'knowledge/01980000-0000-7000-8000-00000000000a.db']) {
      const data = folder()
      mkdirSync(join(data, 'knowledge'), { recursive: true })
      writeFileSync(join(data, left), 'left')
      const { code, stderr } = await restore(target, data)
      assert.notEqual(code, 0)
      assert.ok(stderr.includes(left), stderr)
      assert.equal(existsSync(join(data, 'repartee.db')), false)
    }
  })

  test('goes into an empty folder only, and is made of one that holds data', async () => {
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    after(service.stop)
    const target = folder()
    assert.equal((await backup(service.data, target)).code, 0)
    assert.match((await backup(service.data, target)).stderr, /is not empty/)
    assert.match((await backup(folder(), folder())).stderr, /holds no data/)
    for (const name of ['copy', '..copy'])
      assert.match((await backup(service.data, join(service.data, name))).stderr, /is in the data folder/)
    assert.match((await restore(target, service.data)).stderr, /in use by another process/)
    await service.end('SIGTERM')
    assert.match((await restore(target, service.data)).stderr, /holds data already/)
    assert.equal(existsSync(join(target, 'local.json')), false)
  })
})
