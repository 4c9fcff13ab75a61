// Something else has changed the files: it is said which one is damaged and what to do, and what is not damaged works.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { repartee } from '../cli/repartee.ts'
import { isError, isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { keepsFiles, type Service, startService } from '../support/service.ts'

const PAGE_BYTES = 8_192

function overwrite(path: string, bytes: Uint8Array, at: number): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

const damages: Record<string, (path: string) => void> = {
  'with another header': (path) => overwrite(path, Buffer.alloc(100, 'no database'), 0),
  'cut off in the middle': (path) => truncateSync(path, Math.floor(statSync(path).size / PAGE_BYTES / 2) * PAGE_BYTES),
  'with pages of zeros': (path) => overwrite(path, Buffer.alloc(statSync(path).size - PAGE_BYTES), PAGE_BYTES),
  'that is another file': (path) => writeFileSync(path, readFileSync(import.meta.filename)),
  'that is a pipe': (path) => {
    rmSync(path)
    execFileSync('mkfifo', [path])
  },
}

async function filled(): Promise<{ service: Service; agent: string; session: string }> {
  const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
  after(() => service.stop())
  const agent = await service.newAgent()
  const session = await service.newSession(agent)
  for (let i = 0; i < 5; i++) isOk(await service.client.post(`${session}/messages`, { message: `${i} ${'x'.repeat(9_000)}` }))
  return { service, agent, session }
}

async function withDocument(service: Service, text: string): Promise<string> {
  const agent = await service.newAgent({ model: 'extractive' })
  const { document } = (await service.client.post(`/agents/${agent}/documents`, { text })).body
  await until('the document is read', async () => {
    const answer = await service.client.get(`/agents/${agent}/documents/${document.id}`)
    return answer.body.document.status === 'ready'
  })
  return agent
}

if (keepsFiles) {
  describe('a damaged database', () => {
    test('keeps the service from starting, which says which file it is and what to do', async () => {
      const { service, session } = await filled()
      await service.end('SIGTERM')
      const path = join(service.data, 'repartee.db')
      copyFileSync(path, `${path}.good`)
      for (const [name, damage] of Object.entries(damages)) {
        damage(path)
        await assert.rejects(service.restart(), (error: Error) => {
          assert.match(error.message, /ended with 1 before it was ready/, name)
          assert.ok(
            service.printed().includes(`Repartee cannot start: the database file ${path} is damaged`),
            `${name}: ${service.printed()}`,
          )
          assert.match(service.printed(), /restore a backup/)
          assert.equal(service.printed().trim().split('\n').length, 1, service.printed())
          return true
        })
        const check = await repartee(['check'], { REPARTEE_DATA: service.data })
        assert.notEqual(check.code, 0, name)
        assert.ok((check.stdout + check.stderr).includes('repartee.db'), `${name}: ${check.stdout}${check.stderr}`)
        rmSync(path)
        copyFileSync(`${path}.good`, path)
      }
      await service.restart()
      assert.equal((await service.client.get(session)).body.messages.length, 10)
    })

    test('that is found out in use fails what needs it and says so in the log, and nothing else', async () => {
      const { service, session } = await filled()
      await service.end('SIGTERM')
      const path = join(service.data, 'repartee.db')
      const db = new DatabaseSync(path)
      const { root } = db.prepare("SELECT rootpage AS root FROM sqlite_schema WHERE name = 'message'").get() as { root: number }
      db.close()
      overwrite(path, Buffer.alloc(PAGE_BYTES), (root - 1) * PAGE_BYTES)
      await service.restart()
      const asked = service.model.calls.length
      isError(await service.client.get(session), 500, 'internal_error')
      isError(await service.client.post(`${session}/messages`, { message: 'hello' }), 500, 'internal_error')
      assert.equal(service.model.calls.length, asked, 'no model is asked about what is not stored')
      await until('the log says so', () => service.printed().includes(`the database file ${path} is damaged`))
      isOk(await service.client.get('/agents'))
      isOk(await service.client.get('^/healthz', { key: null }))
    })
  })

  test('a damaged knowledge base is told of, and takes no other agent down', async () => {
    const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
    after(() => service.stop())
    const { client } = service
    const sound = await withDocument(service, 'The blue lamp burns for three hours.')
    const broken: string[] = []
    for (const _ of Object.keys(damages)) broken.push(await withDocument(service, 'The red lamp burns for two hours.'))
    await service.end('SIGTERM')
    const pathOf = (agent: string, end = 'db') => join(service.data, 'knowledge', `${agent}.${end}`)
    for (const [i, damage] of Object.values(damages).entries()) damage(pathOf(broken[i]!))
    // As a crash would leave it: there is work in it, which is looked for at the start.
    writeFileSync(pathOf(broken[0]!, 'pending'), '')
    await service.restart()
    const open = openFiles(service)
    for (const agent of broken) {
      const session = await service.newSession(agent)
      for (const ask of [
        () => client.post(`/agents/${agent}/search`, { query: 'red lamp' }),
        () => client.post(`${session}/messages`, { message: 'How long does the red lamp burn?' }),
        () => client.get(`/agents/${agent}/documents`),
        () => client.post(`/agents/${agent}/documents`, { text: 'Another lamp.' }),
      ]) {
        const answer = await ask()
        isError(answer, 500, 'internal_error')
        assert.match(answer.body.error.message, /The knowledge base of this agent is damaged/)
      }
      await until('the log says which', () => service.printed().includes(`the database file ${pathOf(agent)} is damaged`))
    }
    for (let i = 0; i < 50; i++) await client.post(`/agents/${broken[0]}/search`, { query: 'red lamp' })
    assert.ok(openFiles(service) < open + 30, 'no file stays open for having been found damaged')
    const found = await client.post(`/agents/${sound}/search`, { query: 'blue lamp' })
    assert.equal(found.body.hits.length, 1, found.text)
    const more = await client.post(`/agents/${sound}/documents`, { text: 'The green lamp burns for one hour.' })
    isOk(more, 202)
    await until('it is read', async () => (await client.get(`/agents/${sound}/documents`)).body.documents.every(isReady))
    isOk(await client.delete(`/agents/${broken[0]}`))
  })
}

const openFiles = (service: Service) => readdirSync(`/proc/${service.pid()}/fd`).length

const isReady = ({ status }: { status: string }) => status === 'ready'
