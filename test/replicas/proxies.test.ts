// Two processes on one PostgreSQL behind a proxy, with the configurations of `deploy`.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isOk } from '../support/assert.ts'
import { Client } from '../support/client.ts'
import { readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { newDatabase } from '../support/postgres.ts'
import { startHaproxy, startNginx } from '../support/proxies.ts'
import { makeKey, needsProcess, type Service, startService } from '../support/service.ts'

/** Many times as long as a proxy takes to notice, on a busy machine too. */
const LEAVE_MS = 8_000
const PROXIES = { nginx: startNginx, HAProxy: startHaproxy }
/** As the page on deployment says it. */
const BELOW_A_PATH = {
  nginx: (text: string) => text.replace('location / {', 'location /chat/ {').replace('http://repartee;', 'http://repartee/;'),
  HAProxy: (text: string) => text.replace('  default_backend', '  http-request replace-path ^/chat(/.*) \\1\n  default_backend'),
}
const WITH_TLS = {
  nginx: (text: string, folder: string) =>
    text.replace(
      /listen (.*);/,
      `listen $1 ssl;\n    ssl_certificate ${folder}/tls.pem;\n    ssl_certificate_key ${folder}/tls.pem;`,
    ),
  HAProxy: (text: string, folder: string) => text.replace(/bind (.*)/, `bind $1 ssl crt ${folder}/tls.pem`),
}

for (const [name, startProxy] of Object.entries(PROXIES) as ['nginx' | 'HAProxy', typeof startNginx][])
  describe(`behind ${name}`, { skip: needsProcess }, () => {
    let replicas: Service[] = []
    const key = makeKey()
    const address = { baseUrl: '' }
    const client = new Client(address, key)
    const through = async (edit?: (text: string, folder: string) => string, files = {}) => {
      const servers = replicas.map((replica) => new URL(replica.client.address.baseUrl).host)
      const proxy = await startProxy({ servers, files, ...(edit === undefined ? {} : { edit }) })
      return proxy.port
    }
    before(async () => {
      const shared = { REPARTEE_DATABASE_URL: await newDatabase(), REPARTEE_ADMIN_KEY: key, REPARTEE_LEAVE_MS: String(LEAVE_MS) }
      const one = await startService(shared)
      const two = await startService({ ...shared, OPENAI_BASE_URL: await one.model.listen() })
      replicas = [one, two]
      // A process that is started again stays where the proxy knows it.
      for (const { client } of replicas) Object.assign(shared, { REPARTEE_PORT: new URL(client.address.baseUrl).port })
      address.baseUrl = `http://127.0.0.1:${await through()}/v1`
    })
    // To leave in order takes its time.
    after(() => Promise.all(replicas.map((replica) => replica.kill())))
    let session: string
    beforeEach(async () => {
      const [one] = replicas as [Service]
      one.model.reset()
      session = await one.newSession(await one.newAgent({ followUps: { enabled: false } }))
    })

    test('requests of one session, spread over both, are answered in order', async () => {
      replicas[0]!.model.behaviour = says((call) => `to ${call.body.messages.at(-1)!.content}`)
      for (let i = 0; i < 10; i++) isOk(await client.post(`${session}/messages`, { message: String(i) }))
      const { messages } = (await client.get(session)).body
      assert.deepEqual(
        messages.map(({ content }: { content: string }) => content),
        Array.from({ length: 10 }, (_, i) => [String(i), `to ${i}`]).flat(),
      )
    })

    test('a stream is not held back: words come while the model still speaks', async () => {
      const release = replicas[0]!.model.hold(says('the end'))
      const reader = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
      await reader.find('turn.started')
      release()
      assert.equal((await reader.find('turn.completed')).data.aiMessage.content, 'the end')
    })

    test('a large document comes through', async () => {
      const [, agents, agent] = session.split('/')
      const text = 'A line of a long document about lamps and oil.\n'.repeat(200_000)
      const form = new FormData()
      form.set('file', new Blob([text], { type: 'text/plain' }), 'long.txt')
      const encoded = new Response(form)
      const bytes = Buffer.from(await encoded.arrayBuffer())
      const headers = { 'content-type': encoded.headers.get('content-type')!, 'content-length': String(bytes.length) }
      isOk(await client.request('POST', `/${agents}/${agent}/documents`, { bytes, headers }), 202)
      isOk(await client.delete(`/${agents}/${agent}`))
    })

    test('below a path of the proxy, and with its TLS', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'repartee-tls-'))
      const [cert, certKey] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
      const subject = ['-subj', '/CN=localhost', '-days', '2']
      execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', certKey, '-out', cert], {
        stdio: 'ignore',
      })
      const files = { 'tls.pem': readFileSync(cert, 'utf8') + readFileSync(certKey, 'utf8') }
      rmSync(folder, { recursive: true })
      const port = await through((text, beside) => WITH_TLS[name](BELOW_A_PATH[name](text), beside), files)
      const reject = process.env.NODE_TLS_REJECT_UNAUTHORIZED
      process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
      try {
        const response = await fetch(`https://127.0.0.1:${port}/chat/v1${session}`, { headers: { 'x-api-key': key } })
        assert.equal(response.status, 200)
        assert.equal((await fetch(`https://127.0.0.1:${port}/chat/readyz`)).status, 200)
      } finally {
        if (reject === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
        else process.env.NODE_TLS_REJECT_UNAUTHORIZED = reject
      }
    })

    // A connection that comes at the moment when the port is closed is reset, and the proxy says 502.
    test('while one process is stopped and started again, whoever sends again where the proxy says 502 is answered, and nothing is lost or doubled', async () => {
      let isOver = false
      let done = 0
      const failed: string[] = []
      const senders = Array.from({ length: 4 }, async () => {
        const own = await replicas[0]!.newSession(session.split('/')[2]!)
        let sent = 0
        while (!isOver) {
          const send = (headers: Record<string, string>) => client.post(`${own}/messages`, { message: 'Hello' }, { headers })
          const headers = { 'idempotency-key': randomUUID() }
          const first = await send(headers)
          const { status, text } = first.status === 502 ? await send(headers) : first
          sent++
          if (status === 200) done++
          else failed.push(`${status} ${text}`)
          await pause(100)
        }
        assert.equal((await client.get(own)).body.messages.length, 2 * sent)
      })
      await until('they are on their way', () => done > 20)
      const [, two] = replicas as [Service, Service]
      const { port } = new URL(two.client.address.baseUrl)
      await two.end('SIGTERM')
      const before = done
      await until('they go on', () => done > before + 20)
      await two.restart({ REPARTEE_PORT: port })
      const turns = async () => /^repartee_turn_duration_seconds_count\S* [1-9]/m.test((await two.client.get('^/metrics')).text)
      await until('the process that was started again answers, too', turns)
      isOver = true
      await Promise.all(senders)
      assert.deepEqual(failed, [])
    })

    test('when one process dies, the other answers what comes next', async () => {
      const [, two] = replicas as [Service, Service]
      const { port } = new URL(two.client.address.baseUrl)
      await two.kill()
      for (let i = 0; i < 6; i++) isOk(await client.get(session))
      await two.restart({ REPARTEE_PORT: port })
    })
  })
