// The listeners of a service accept the connections that wait, without a turn of the event loop for each.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fastify from 'fastify'
import { Listeners } from '../../src/http/server/listeners.ts'

const CONNECT = `const net = require('node:net')
let connected = 0
const [port, count] = process.argv.slice(1).map(Number)
for (let i = 0; i < count; i++) net.connect(port, '127.0.0.1', () => { if (++connected === count) process.exit() })`

/** Connects `count` times. The event loop waits for the other process, so that nothing is accepted before that has ended. */
function connect(port: number, count: number): void {
  execFileSync(process.execPath, ['-e', CONNECT, String(port), String(count)])
}

async function open() {
  const app = fastify()
  let accepted = 0
  app.server.on('connection', (socket: Socket) => {
    accepted++
    socket.on('error', () => {}).destroy()
  })
  const listeners = new Listeners(app)
  await listeners.open('127.0.0.1', 0)
  const { port } = app.server.address() as AddressInfo
  return { app, listeners, port, accepted: () => accepted }
}

test('connections that wait are accepted, though the listeners close then', async () => {
  const { app, listeners, port, accepted } = await open()
  connect(port, 10)
  const before = app.server.listenerCount('connection')
  await listeners.acceptWaiting()
  await listeners.close()
  assert.equal(accepted(), 10)
  assert.equal(app.server.listenerCount('connection'), before)
})

test('many connections are accepted in few turns of the event loop', async () => {
  const { listeners, port, accepted } = await open()
  connect(port, 100)
  let turns = 0
  for (; accepted() < 100; turns++) await nextTurn()
  await listeners.close()
  // Elsewhere the system divides no port, and each takes a turn.
  if (process.platform === 'linux') assert.ok(turns < 50, `${turns} turns`)
})

test('a port that another process listens on is taken', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await assert.rejects(new Listeners(fastify()).open('127.0.0.1', port), { code: 'EADDRINUSE' })
  other.close()
})

test('a port that is shared by the listeners of another service is taken', async () => {
  const first = await open()
  await assert.rejects(new Listeners(fastify()).open('127.0.0.1', first.port), { code: 'EADDRINUSE' })
  await first.listeners.close()
  const second = new Listeners(fastify())
  await second.open('127.0.0.1', first.port)
  await second.close()
})

test('of services that begin to listen on a port at the same time, one has it', async () => {
  const first = await open()
  await first.listeners.close()
  const services = Array.from({ length: 4 }, () => new Listeners(fastify()))
  const outcomes = await Promise.allSettled(services.map((service) => service.open('127.0.0.1', first.port)))
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  await Promise.all(services.map((service) => service.close()))
  assert.deepEqual(reasons, ['EADDRINUSE', 'EADDRINUSE', 'EADDRINUSE'])
})

/** What another process does while it looks whether a port is free. */
async function lockFreePort(): Promise<{ port: number; lock: Server }> {
  const { listeners, port } = await open()
  await listeners.close()
  const lock = createServer()
  await new Promise<void>((resolve) => lock.listen(`\0repartee/${port}`, resolve))
  return { port, lock }
}

test('a service does not listen while another looks whether the port is free', {
  skip: process.platform !== 'linux' && 'Linux only',
}, async () => {
  const { port, lock } = await lockFreePort()
  const app = fastify()
  const later = new Listeners(app)
  const opening = later.open('127.0.0.1', port)
  for (let turns = 0; turns < 50; turns++) await nextTurn()
  assert.equal(app.server.listening, false)
  lock.close()
  await opening
  assert.equal(app.server.listening, true)
  await later.close()
})

test('where another program holds the lock of a port for long, the service says so, and listens with one listener', {
  skip: process.platform !== 'linux' && 'Linux only',
}, async () => {
  const { port, lock } = await lockFreePort()
  const said: string[] = []
  const app = fastify()
  const alone = new Listeners(app, (about) => said.push(about))
  await alone.open('127.0.0.1', port)
  assert.match(said.join(), new RegExp(`another program holds the socket @repartee/${port}`))
  await alone.close()
  lock.close()
})
