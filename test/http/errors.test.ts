// How errors that are not ours are translated
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { toReparteeError } from '../../src/http/route/errors.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

/** Accepts connections, and resets each at its first byte, as a database or a model provider may. */
async function startResettingServer(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.resetAndDestroy())
  })
  server.listen(0, '127.0.0.1').unref()
  after(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

describe('a connection that is reset', () => {
  test('is a defect of ours where it is not the one of the caller', async () => {
    const port = await startResettingServer()
    const socket = connect(port, '127.0.0.1').end('x')
    const [ofSocket] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    const request = httpRequest({ port, host: '127.0.0.1' }).end()
    const [ofRequest] = (await once(request, 'error')) as [NodeJS.ErrnoException]
    for (const error of [ofSocket, ofRequest]) {
      assert.equal(error.code, 'ECONNRESET')
      const { code, message, cause } = toReparteeError(error)
      assert.deepEqual([code, cause], ['internal_error', error])
      assert.doesNotMatch(message, /body/)
    }
  })

  test('is an invalid request where the body of a request breaks off', { skip: needsProcess }, async () => {
    const service = await startService()
    after(service.stop)
    const { client } = service
    const failures = async () => {
      const { text } = await client.get('^/metrics')
      const count = (code: string) =>
        Number(new RegExp(`^repartee_failures_total\\{code="${code}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
      return { invalid: count('invalid_request'), internal: count('internal_error') }
    }
    const { port, hostname } = new URL(client.address.baseUrl)
    for (const path of ['/v1/agents', '/openai/v1/responses', '/mcp']) {
      const before = await failures()
      const socket = connect(Number(port), hostname)
      const head = [`POST ${path} HTTP/1.1`, 'Host: x', `X-API-Key: ${client.key}`, 'Content-Type: application/json']
      socket.write([...head, 'Content-Length: 100', '', ''].join('\r\n'))
      socket.write('{"name":')
      await once(socket, 'connect')
      // An answer to a later request: the service reads this one's body by now.
      await failures()
      socket.resetAndDestroy()
      const counted = await until('the failure is counted', async () => {
        const now = await failures()
        return now.invalid + now.internal > before.invalid + before.internal ? now : undefined
      })
      assert.deepEqual(counted, { invalid: before.invalid + 1, internal: before.internal }, path)
    }
  })
})
