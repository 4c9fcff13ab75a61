// No file or connection more may be opened: who comes then is turned away, the log tells, and it works again when some are closed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { limit } from '../support/limits.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const CONNECTIONS = 60
const CONNECT_AGAIN_MS = 100

/**
 * Leaves a process few descriptors, and uses them up with connections: the process closes those that ask nothing, and each is opened
 * again. Resolves when the first is turned away. Returns what closes these, and what lifts the limit.
 */
async function useUp(service: Awaited<ReturnType<typeof startService>>): Promise<{ free: () => void; lift: () => void }> {
  const lift = limit(service.pid()!, 'nofile', readdirSync(`/proc/${service.pid()}/fd`).length + 20)
  const { port } = new URL(service.client.address.baseUrl)
  const sockets = new Set<Socket>()
  let isFree = false
  const turnedAway = Promise.withResolvers<void>()
  const open = () => {
    if (isFree) return
    const socket = connect(Number(port), '127.0.0.1')
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      turnedAway.resolve()
      setTimeout(open, CONNECT_AGAIN_MS)
    })
  }
  for (let i = 0; i < CONNECTIONS; i++) open()
  const free = () => {
    isFree = true
    for (const socket of sockets) socket.destroy()
  }
  after(free)
  await turnedAway.promise
  return { free, lift }
}

test('descriptors run out: the service lives, says so, and serves when there are some again', {
  skip: needsProcess,
}, async () => {
  const service = await startService({ REPARTEE_LOG_LEVEL: 'warn' })
  after(() => service.stop())
  const { client } = service
  const agent = await service.newAgent()
  const session = await service.newSession(agent)
  isOk(await client.post(`${session}/messages`, { message: 'before' }))
  const { free, lift } = await useUp(service)
  await until('the log tells', () => /no more files and connections can be opened/.test(service.printed()))
  assert.equal(service.exitCode(), null)
  free()
  const look = () =>
    client.get(session).then(
      (answer) => (answer.status === 200 ? answer : undefined),
      () => undefined,
    )
  const answer = await until('others are served', look)
  assert.equal(answer.body.messages.length, 2)
  isOk(await client.post(`${session}/messages`, { message: 'after' }))
  await until('the log tells that it is over', () => /files and connections can be opened again/.test(service.printed()))
  lift()
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
  let used = await useUp(service)
  const deaths = () => service.printed().split('the thread that indexes documents ended').length - 1
  await until('the thread ended, and when it was started again, too', async () => {
    if (deaths() === 0 && (await add()) === undefined) {
      // Its connection was idle for too long, and is closed: the next needs a descriptor.
      used.free()
      used.lift()
      await until('another connection is open', () => client.get(`/agents/${agent}`).catch(() => undefined))
      used = await useUp(service)
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
