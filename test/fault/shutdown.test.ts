import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isError } from '../support/assert.ts'
import { launch } from '../support/cleanup.ts'
import { hangs, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

describe('stopping and starting', { skip: needsProcess }, () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  /** Runs the service until it ends by itself. */
  const runToEnd = async (env: Record<string, string>) => {
    const child = launch(process.execPath, [MAIN], { env: { ...process.env, REPARTEE_SAMPLE: 'off', ...env } })
    let stderr = ''
    child.stderr!.on('data', (chunk) => {
      stderr += chunk
    })
    const [code] = await once(child, 'exit')
    return { code, stderr }
  }

  test('SIGTERM lets a running turn finish, and its sender gets the reply', async () => {
    const session = await service.newSession(await service.newAgent())
    service.model.reset()
    const release = service.model.hold(says('in time'))
    const sent = service.client.post(`${session}/messages`, { message: 'last words' })
    await service.model.received(1)
    const stopped = service.end('SIGTERM')
    const refused = () =>
      service.client.get('/agents').then(
        ({ status }) => status === 503,
        () => true,
      )
    await until('the service refuses new work', refused)
    release()
    const answer = await sent
    await stopped
    assert.equal(answer.status, 200)
    assert.equal(answer.body.aiMessage.content, 'in time')
    assert.equal(answer.headers.connection, 'close')
    await service.restart()
    assert.equal((await service.client.get(session)).body.messages.length, 2)
  })

  test('turns that wait are sent away when the time is over, and none of them begins', async (t) => {
    const own = await startService({ REPARTEE_DRAIN_MS: '500' })
    t.after(own.stop)
    const session = await own.newSession(await own.newAgent())
    own.model.behaviour = hangs
    const sent = Array.from({ length: 5 }, (_, i) => own.client.post(`${session}/messages`, { message: `message ${i}` }))
    await own.model.received(1)
    await own.client.get('^/healthz') // a connection behind those of the sends: they have been let in
    await Promise.all([own.end('SIGTERM'), Promise.all(sent.map(async (answer) => isError(await answer, 503, 'unavailable')))])
    assert.equal(own.model.calls.length, 1)
    await own.restart()
    assert.equal((await own.client.get(session)).body.messages.length, 1)
  })

  test('a client that never finishes its request does not keep the service from stopping', async () => {
    const own = await startService({ REPARTEE_DRAIN_MS: '100' })
    const { port } = new URL(own.client.address.baseUrl)
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.resume() // an answer that is not read would hide the end
    socket.write(own.client.bytesOf('POST', '/agents', undefined, ['Content-Type: application/json', 'Content-Length: 100']))
    await once(socket, 'connect')
    const closed = once(socket, 'close')
    await own.stop()
    await closed
  })

  test('a connection on which nothing is asked does not keep the service from stopping', async () => {
    // With a time to drain that is longer than this test may take.
    const own = await startService({ REPARTEE_DRAIN_MS: '3600000' })
    const { port } = new URL(own.client.address.baseUrl)
    const socket = connect(Number(port), '127.0.0.1').resume()
    await once(socket, 'connect')
    const closed = once(socket, 'close')
    await own.stop()
    await closed
  })

  test('what is still open when all is done does not keep the process from ending', async () => {
    // A timer that runs for days, in place of a connection that a provider holds open.
    const code = "import { isMainThread } from 'node:worker_threads'; if (isMainThread) setTimeout(() => {}, 1e9)"
    const own = await startService({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` })
    await own.stop()
  })

  test('a second process on the same data folder is refused, in words, and the first goes on', async () => {
    const { code, stderr } = await runToEnd({ REPARTEE_DATA: service.data, REPARTEE_PORT: '0' })
    assert.notEqual(code, 0)
    assert.match(stderr, /in use by another process/)
    assert.equal(stderr.trim().split('\n').length, 1)
    assert.equal((await service.client.get('/agents')).status, 200)
  })

  test('what a deletion that was cut off left of an agent is removed at the start, and nothing else', async (t) => {
    // A folder of one process, which knows that nobody else's is in it.
    const service = await startService({ REPARTEE_DATABASE_URL: '' })
    t.after(service.stop)
    const kept = await service.newAgent({ model: 'extractive' })
    const { document } = (await service.client.post(`/agents/${kept}/documents`, { text: 'A walnut.' })).body
    await service.end('SIGTERM')
    const knowledge = join(service.data, 'knowledge')
    const gone = randomUUID()
    copyFileSync(join(knowledge, `${kept}.db`), join(knowledge, `${gone}.db`))
    for (const end of ['pending', 'due']) writeFileSync(join(knowledge, `${gone}.${end}`), '')
    await service.restart()
    assert.deepEqual(
      readdirSync(knowledge).filter((name) => name.startsWith(gone)),
      [],
    )
    assert.equal((await service.client.get(`/agents/${kept}/documents/${document.id}`)).status, 200)
  })

  test('a setting that there is not is told of, and does not stop the start', async () => {
    const own = await startService({ REPARTEE_PORTT: '1', REPARTEE_LOG_LEVEL: 'warn' })
    await own.stop()
    assert.match(own.printed(), /"REPARTEE_PORTT is not a setting; did you mean REPARTEE_PORT\?"/)
  })

  test('a port that is taken is said in one line', async () => {
    const taken = createServer((_: Socket) => {}).listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const folder = mkdtempSync(join(tmpdir(), 'repartee-port-'))
    const port = String((taken.address() as AddressInfo).port)
    const { code, stderr } = await runToEnd({ REPARTEE_DATA: folder, REPARTEE_PORT: port })
    taken.close()
    rmSync(folder, { recursive: true })
    assert.notEqual(code, 0)
    assert.match(stderr, new RegExp(`^Repartee cannot start: port ${port} .* is taken.*\n$`))
  })

  test('a folder that cannot be used is said in one line', async () => {
    const { code, stderr } = await runToEnd({ REPARTEE_DATA: '/dev/null/data', REPARTEE_PORT: '0' })
    assert.notEqual(code, 0)
    assert.match(stderr, /^Repartee cannot start: .*\/dev\/null\/data.*\n$/)
  })
})
