// A thread, or the process that reads documents, dies: what was asked of it gets an answer, and the next works.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as pauseMs } from 'node:timers/promises'
import { isError, isOk } from '../support/assert.ts'
import { limit, useUpDescriptors } from '../support/limits.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-threads-'))
after(() => rmSync(folder, { recursive: true }))
const exhaust = join(folder, 'exhaust')
const service = await startService({
  NODE_OPTIONS: `--import=${new URL('../support/exhausted-thread.ts', import.meta.url)}`,
  TEST_EXHAUST: exhaust,
  REPARTEE_LOG_LEVEL: 'warn',
})
after(() => service.stop())
const { client } = service

/** The processes of the service that read documents. */
const readerPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => isReader(pid))

function isReader(pid: number): boolean {
  try {
    const [, parent] = /\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? []
    return Number(parent) === service.pid() && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('reader/process')
  } catch {
    return false // gone meanwhile
  }
}

const rowsOf = (n: number) => Array.from({ length: n }, (_, i) => `<tr><td>lamp ${i}</td><td>${i} hours</td></tr>`).join('\n')
const html = (n: number) =>
  `<html><body><h1>Lamps</h1><table>${rowsOf(n)}</table><p>The walnut lamp burns longest.</p></body></html>`
const add = async (agent: string, body: object): Promise<string> => {
  const added = await client.post(`/agents/${agent}/documents`, body)
  isOk(added, 202)
  return added.body.document.id
}
const documentOf = async (agent: string, id: string) => (await client.get(`/agents/${agent}/documents/${id}`)).body.document
const settled = (agent: string, id: string) =>
  until('the document is read, or given up', async () => {
    const document = await documentOf(agent, id)
    return /^(ready|failed)$/.test(document.status) && document
  })

/** A limit that leaves a process two more descriptors: new ones get the lowest numbers that are free. */
function thirdFree(pid: number): number {
  const open = new Set(readdirSync(`/proc/${pid}/fd`).map(Number))
  const free = Array.from({ length: open.size + 3 }, (_, fd) => fd).filter((fd) => !open.has(fd))
  return free[2]!
}

describe('the process that reads documents', { skip: needsProcess }, () => {
  test('is killed while it reads: the document is read again, and turns are answered meanwhile', async () => {
    const agent = await service.newAgent()
    const session = await service.newSession(agent)
    const id = await add(agent, { html: html(3_000) })
    process.kill(await until('it reads', () => readerPids()[0]), 'SIGKILL')
    isOk(await client.post(`${session}/messages`, { message: 'hello' }))
    const document = await settled(agent, id)
    assert.equal(document.status, 'ready', JSON.stringify(document))
    const found = await client.post(`/agents/${agent}/search`, { query: 'walnut lamp' })
    assert.ok(found.body.hits.length > 0)
  })

  test('is killed over a document again and again: that is given up, and the next is read', async () => {
    const agent = await service.newAgent()
    const id = await add(agent, { html: html(3_000) })
    const killed = new Set<number>()
    const document = await until('it is given up', async () => {
      for (const pid of readerPids().filter((pid) => !killed.has(pid))) {
        killed.add(pid)
        process.kill(pid, 'SIGKILL')
      }
      const { status, error } = await documentOf(agent, id)
      return status === 'failed' && { error }
    })
    assert.equal(document.error.code, 'damaged')
    assert.ok(killed.size >= 2, 'one death is not held against it')
    assert.equal((await settled(agent, await add(agent, { html: html(3) }))).status, 'ready')
  })

  test('cannot be started for want of descriptors: the document waits, and is read when there are some', async () => {
    const agent = await service.newAgent()
    // The base of the agent is open, so that only the process is wanting.
    assert.equal((await settled(agent, await add(agent, { text: 'A first lamp.' }))).status, 'ready')
    const isReported = () => /cannot be worked on/.test(service.printed())
    // The pipes of a process that is gone may still be open while they are counted, and leave room for the next one once they close. Or a new connection is
    // needed, and not accepted. Then it is done again, and given more time.
    let id: string
    let patienceMs = 30_000
    let closingMs = 10
    do {
      for (const pid of readerPids()) process.kill(pid, 'SIGKILL')
      await until('no process reads', () => readerPids().length === 0)
      await pauseMs(closingMs)
      // The next request uses the connection of this one. What it does to the database takes one more descriptor, and a process takes several.
      isOk(await client.get('/agents'))
      const lift = limit(service.pid()!, 'nofile', thirdFree(service.pid()!))
      const lifting = setTimeout(lift, patienceMs)
      try {
        id = await add(agent, { html: html(3) })
        await until('it is reported, or read', async () => isReported() || (await documentOf(agent, id)).status === 'ready')
      } finally {
        clearTimeout(lifting)
        lift()
        patienceMs = Math.min(2 * patienceMs, 600_000)
        closingMs = Math.min(2 * closingMs, 10_000)
      }
    } while (!isReported())
    assert.equal((await settled(agent, id)).status, 'ready')
  })
})

describe('the thread that answers questions', { skip: needsProcess }, () => {
  test('dies for want of memory: turns get a reply or 503, and the next one works', async () => {
    const agent = await service.newAgent({ model: 'extractive' })
    const id = await add(agent, { text: 'The walnut lamp burns for nine hours. It is lit in the evening.' })
    assert.equal((await settled(agent, id)).status, 'ready')
    const sessions = await Promise.all(Array.from({ length: 4 }, () => service.newSession(agent)))
    const ask = (session: string) => client.post(`${session}/messages`, { message: 'How long does the walnut lamp burn?' })
    for (const session of sessions) isOk(await ask(session))
    writeFileSync(exhaust, '')
    await until('it takes all memory', () => !existsSync(exhaust))
    const answers = await Promise.all(sessions.map(ask))
    for (const answer of answers) {
      if (answer.status !== 200) isError(answer, 503, 'unavailable')
    }
    assert.ok(
      answers.some(({ status }) => status === 503),
      'it was the thread that died',
    )
    for (const session of sessions) {
      const next = await ask(session)
      isOk(next)
      assert.match(next.body.aiMessage.content, /nine hours/)
    }
    isOk(await client.get('^/healthz', { key: null }))
  })
})

test('descriptors run out before the thread that indexes documents has begun: the service lives, and indexes when there are some again', {
  skip: needsProcess,
}, async () => {
  const service = await startService({ REPARTEE_LOG_LEVEL: 'warn', REPARTEE_SAMPLE: 'off' })
  after(() => service.stop())
  const { client } = service
  const agent = await service.newAgent()
  const add = () =>
    client.post(`/agents/${agent}/documents`, { text: 'The walnut lamp burns for nine hours.' }).catch(() => undefined)
  let used = await useUpDescriptors(service)
  const deaths = () => service.printed().split('the thread that indexes documents ended').length - 1
  await until('the thread ended, and when it was started again, too', async () => {
    if (deaths() === 0 && (await add()) === undefined) {
      // Its connection was idle for too long, and is closed: the next needs a descriptor.
      used.free()
      used.lift()
      await until('another connection is open', () => client.get(`/agents/${agent}`).catch(() => undefined))
      used = await useUpDescriptors(service)
    }
    return deaths() > 1 || service.exitCode() !== null
  })
  assert.equal(service.exitCode(), null)
  used.free()
  used.lift()
  const { body } = (await until('a document is taken', async () => {
    const answer = await add()
    return answer?.status === 202 || answer?.status === 200 ? answer : undefined
  }))!
  await until(
    'it is read',
    async () => (await client.get(`/agents/${agent}/documents/${body.document.id}`)).body.document.status === 'ready',
  )
})
