// There is no room on the disk: what cannot be stored is refused, everything else goes on, and it works again when there is room.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { limit } from '../support/limits.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { keepsFiles, type Service, startService } from '../support/service.ts'
import { stall } from '../support/stall.ts'
import { isInFiles } from '../support/store.ts'

/** A disk of a service, and how it is filled up; that returns how room is made again. */
interface Disk {
  name: string
  env: Record<string, string>
  fill: (service: Service) => () => void
}

/** Everywhere: no file of the process may grow. SQLite sees an I/O error. */
const noGrowth: Disk = { name: 'no file can grow', env: {}, fill: (service) => limit(service.pid()!, 'fsize', 0) }

/** Where disks may be mounted: a real one, which is full. */
function smallDisk(): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'none', folder], { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  after(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  const fill = () => {
    const filler = join(folder, 'filler')
    for (let bytes = 1_048_576; bytes >= 1; bytes = Math.floor(bytes / 2)) {
      try {
        for (;;) writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' })
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      }
    }
    return () => rmSync(filler)
  }
  return { name: 'a small disk is full', env: { REPARTEE_DATA: join(folder, 'data') }, fill }
}

const ready = (service: Service, agent: string, id: string) =>
  until('the document is read', async () => {
    const { document } = (await service.client.get(`/agents/${agent}/documents/${id}`)).body
    return document.status === 'ready'
  })

if (keepsFiles) {
  for (const disk of [noGrowth, smallDisk()]) {
    if (disk === undefined) continue
    test(`${disk.name}: what writes gets 503, what reads goes on, and nothing that was acknowledged is lost`, async () => {
      const service = await startService(disk.env)
      after(() => service.stop())
      const { client, model } = service
      const agent = await service.newAgent()
      const session = await service.newSession(agent)
      const documents = `/agents/${agent}/documents`
      const added = await client.post(documents, { title: 'Lamps', text: 'A lamp burns for three hours.' })
      isOk(added, 202)
      await ready(service, agent, added.body.document.id)
      const send = (message: string) => client.post(`${session}/messages`, { message })
      const history = async () => {
        const answer = await client.get(session)
        isOk(answer)
        return answer.body.messages.map(({ content }: { content: string }) => content)
      }
      for (const message of ['one', 'two']) isOk(await send(message))
      const before = await history()
      const asked = model.calls.length
      const makeRoom = disk.fill(service)
      for (let i = 0; i < 3; i++) {
        isError(await send('refused'), 503, 'unavailable')
        isError(await client.post(documents, { text: `A lamp that is refused. ${'x'.repeat(100_000)}` }), 503, 'unavailable')
        isError(await client.post('/agents', { name: 'Refused', model: 'openai/stub' }), 503, 'unavailable')
        isError(await client.delete(session), 503, 'unavailable')
      }
      assert.equal(model.calls.length, asked, 'no model is asked about what is not stored')
      assert.deepEqual(await history(), before)
      isOk(await client.get('^/healthz', { key: null }))
      isOk(await client.get('^/readyz', { key: null }))
      isOk(await client.get(`/agents/${agent}/sessions`))
      const found = await client.post(`/agents/${agent}/search`, { query: 'How long does a lamp burn?' })
      assert.equal(found.body.hits.length, 1, found.text)
      makeRoom()
      isOk(await send('three'))
      const late = await client.post(documents, { title: 'More', text: 'A candle burns for one hour.' })
      isOk(late, 202)
      await ready(service, agent, late.body.document.id)
      await service.kill()
      await service.restart()
      assert.deepEqual(await history(), [...before, 'three', 'A reply.'])
      assert.equal((await client.get(documents)).body.documents.length, 2)
    })
  }

  describe('while no file can grow', { concurrency: 2 }, () => {
    const start = async () => {
      const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
      after(() => service.stop())
      return service
    }

    test('a turn that ends is told of as unavailable, and the same text, sent when there is room, continues it', async () => {
      const service = await start()
      const session = await service.newSession(await service.newAgent())
      const release = service.model.hold(says('lost'))
      const send = () => service.client.post(`${session}/messages`, { message: 'hello' })
      const sending = send()
      await service.model.received(1)
      const makeRoom = noGrowth.fill(service)
      release()
      isError(await sending, 503, 'unavailable')
      makeRoom()
      service.model.reset()
      const again = await send()
      isOk(again)
      const { messages } = (await service.client.get(session)).body
      assert.deepEqual(
        messages.map(({ id }: { id: string }) => id),
        [again.body.userMessage.id, again.body.aiMessage.id],
      )
    })

    test('the erasing of deleted text waits, and ends nothing', async () => {
      const service = await start()
      const agent = await service.newAgent()
      const [doomed, kept] = [await service.newSession(agent), await service.newSession(agent)]
      isOk(await service.client.post(`${doomed}/messages`, { message: 'a walnut' }))
      const added = await service.client.post(`/agents/${agent}/documents`, { text: 'A walnut.' })
      await ready(service, agent, added.body.document.id)
      // Whoever reads keeps the logs as they are, so that they are still to be emptied when the disk is full.
      const readers = ['repartee.db', `knowledge/${agent}.db`].map((name) => new DatabaseSync(join(service.data, name)))
      for (const reader of readers) {
        reader.exec('BEGIN')
        reader.prepare('SELECT count(*) FROM sqlite_schema').get()
      }
      isOk(await service.client.delete(doomed))
      isOk(await service.client.delete(`/agents/${agent}/documents/${added.body.document.id}`))
      const isAtWork = () => existsSync(join(service.data, `knowledge/${agent}.pending`))
      await until('nothing but that is left to be done', () => !isAtWork())
      const makeRoom = noGrowth.fill(service)
      for (const reader of readers) reader.close()
      await until('it was tried', () => (service.printed().match(/deleted text could not be erased/g)?.length ?? 0) >= 2)
      isOk(await service.client.get(kept))
      makeRoom()
      await until('it is erased', () => !isInFiles(service.data, 'walnut'))
      isOk(await service.client.post(`${kept}/messages`, { message: 'hello' }))
      isOk(await service.client.post(`/agents/${agent}/documents`, { text: 'A hazelnut.' }), 202)
    })

    test('documents that wait stay, and are read when there is room, however long that takes', async () => {
      const service = await start()
      const agent = await service.newAgent()
      const text = 'A line of a document that takes a while to be read. '.repeat(15_000)
      let id: string
      let makeRoom: () => void
      // Until one is caught before it is read.
      for (;;) {
        const added = await service.client.post(`/agents/${agent}/documents`, { text })
        isOk(added, 202)
        id = added.body.document.id
        makeRoom = noGrowth.fill(service)
        const { document } = (await service.client.get(`/agents/${agent}/documents/${id}`)).body
        if (document.status !== 'ready') break
        makeRoom()
      }
      await until('it is told of', () => /cannot be worked on/.test(service.printed()))
      const toldAt = performance.now()
      await until('it was tried three times and more', () => performance.now() > toldAt + 7_000)
      makeRoom()
      await until(
        'it is read',
        async () => (await service.client.get(`/agents/${agent}/documents/${id}`)).body.document.status === 'ready',
      )
    })

    test('the service can be stopped, and has everything at the next start', async () => {
      const service = await start()
      const session = await service.newSession(await service.newAgent())
      isOk(await service.client.post(`${session}/messages`, { message: 'kept' }))
      noGrowth.fill(service)
      await service.end('SIGTERM')
      assert.equal(service.exitCode(), 0, service.printed())
      await service.restart()
      assert.equal((await service.client.get(session)).body.messages.length, 2)
    })

    test('the log stands still where it is a file, and the service goes on', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'repartee-log-'))
      after(() => rmSync(folder, { recursive: true }))
      const service = await startService({ REPARTEE_LOG_LEVEL: 'info' }, { log: join(folder, 'log') })
      after(() => service.stop())
      const get = () => service.client.get('/agents')
      isOk(await get())
      await until('the log is written', () => /"request"/.test(service.printed()))
      const makeRoom = noGrowth.fill(service)
      const length = service.printed().length
      for (let i = 0; i < 20; i++) isOk(await get())
      // What is told of this has nobody to whom a failure could be answered.
      await stall(service.pid()!, 1_500)
      for (let i = 0; i < 20; i++) isOk(await get())
      assert.equal(service.printed().length, length)
      makeRoom()
      await until('the log goes on', async () => isOk(await get()) === undefined && service.printed().length > length)
    })
  })
}
