// No file or connection more may be opened: who comes then is turned away, the log tells, and it works again when some are closed.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { limit } from '../support/limits.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const CONNECTIONS = 200

/** Leaves a process few descriptors, and opens more connections than that. Returns what closes these, and what lifts the limit. */
function useUp(service: Awaited<ReturnType<typeof startService>>): { free: () => void; lift: () => void } {
  const lift = limit(service.pid()!, 'nofile', readdirSync(`/proc/${service.pid()}/fd`).length + 20)
  const { port } = new URL(service.client.address.baseUrl)
  const sockets: Socket[] = []
  for (let i = 0; i < CONNECTIONS; i++) {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    sockets.push(socket)
  }
  const free = () => {
    for (const socket of sockets) socket.destroy()
  }
  after(free)
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
  const { free, lift } = useUp(service)
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
  const { free, lift } = useUp(service)
  await until('the log tells', () => /no more files and connections can be opened/.test(service.printed()))
  const deaths = () => service.printed().split('the thread that indexes documents ended').length - 1
  await until('the thread ended, and when it was started again, too', async () => {
    if (deaths() === 0) await add()
    return deaths() > 1 || service.exitCode() !== null
  })
  assert.equal(service.exitCode(), null)
  free()
  lift()
  const { body } = (await until('a document is taken', async () => {
    const answer = await add()
    return answer?.status === 202 || answer?.status === 200 ? answer : undefined
  }))!
  await until(
    'it is read',
    async () => (await client.get(`/agents/${agent}/documents/${body.document.id}`)).body.document.status === 'ready',
  )
})
