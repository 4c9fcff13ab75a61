// A listener that closes accepts the connections that wait, because closing it resets them.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { acceptWaiting } from '../src/http/accept-waiting.ts'

const CONNECTIONS = 10
const CONNECT = `const net = require('node:net')
let connected = 0
for (let i = 0; i < ${CONNECTIONS}; i++)
  net.connect(Number(process.argv[1]), '127.0.0.1', () => { if (++connected === ${CONNECTIONS}) process.exit() })`

test('all connections that wait are accepted', async () => {
  let accepted = 0
  const server = createServer((socket) => {
    accepted++
    socket.on('error', () => {}).destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The event loop waits for the other process, so that nothing is accepted before that has ended.
  execFileSync(process.execPath, ['-e', CONNECT, String((server.address() as AddressInfo).port)])
  await acceptWaiting(server)
  server.close()
  assert.equal(accepted, CONNECTIONS)
  assert.equal(server.listenerCount('connection'), 1)
})
