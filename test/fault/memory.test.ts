// Little memory, and much asked at once: large documents and long lists together do not end the service.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { needsProcess, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'

const SESSIONS = 40_000
const UPLOADS = 4
const TEXTS = 20
const MIB = 1_048_576

test('large uploads and long lists at once, with a small heap: each is answered or refused, and the service goes on', {
  skip: needsProcess,
}, async () => {
  const service = await startService({ NODE_OPTIONS: '--max-old-space-size=128' })
  after(() => service.stop())
  const { client } = service
  const agent = await service.newAgent()
  const session = await service.newSession(agent)
  const store = storeOf(service)
  const padded = (n: number) => (store.isPostgres ? `lpad(i::text, ${n}, '0')` : `printf('%0${n}d', i)`)
  await store.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SESSIONS})
    INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
    SELECT '${agent}', '00000000-0000-4000-8000-' || ${padded(12)}, ${padded(200)}, 'a user', 0, i, i, i FROM n`)
  const line = 'A line of a large document, of which there are many. '
  const file = (i: number) => {
    const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${i}.txt"\r\nContent-Type: text/plain\r\n\r\n${i} `
    return Buffer.concat([Buffer.from(head), Buffer.alloc(15 * MIB, line), Buffer.from('\r\n--b--\r\n')])
  }
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const uploads = Array.from({ length: UPLOADS }, (_, i) =>
    client.post(`/agents/${agent}/documents`, undefined, { bytes: file(i), headers }),
  )
  const texts = Array.from({ length: TEXTS }, (_, i) =>
    client.post(`/agents/${agent}/documents`, { text: `${i} ${line.repeat((0.9 * MIB) / line.length)}` }),
  )
  const lists = Array.from({ length: 10 }, () => client.get(`/agents/${agent}/sessions`))
  for (const answer of await Promise.all([...uploads, ...texts])) {
    if (answer.status !== 202) isError(answer, 503, 'unavailable')
  }
  const listed = await Promise.all(lists)
  for (const answer of listed) {
    if (answer.status === 200) assert.equal(answer.body.sessions.length, SESSIONS + 1)
    else isError(answer, 503, 'unavailable')
  }
  assert.ok(listed.some(({ status }) => status === 200))
  assert.equal(service.exitCode(), null, service.printed())
  isOk(await client.post(`${session}/messages`, { message: 'hello' }))
  isOk(await client.get('^/healthz', { key: null }))
})
