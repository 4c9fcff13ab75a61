// Names that every JavaScript object has, such as `constructor`, are names like any other.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { startService } from '../support/service.ts'

const NAMES = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']

describe('a name that every object has', async () => {
  const service = await startService()
  after(() => service.stop())
  const { client } = service
  const agent = await service.newAgent({ model: 'extractive' })
  const document = { text: 'The constructor of the bridge was paid three euros an hour.', title: 'Bridge' }
  const { body } = await client.post(`/agents/${agent}/documents`, document)
  await until('it is indexed', async () => {
    return (await client.get(`/agents/${agent}/documents/${body.document.id}`)).body.document.status === 'ready'
  })

  for (const role of NAMES)
    test(`${role} is no role`, async () => {
      const said = { role, content: 'apples' }
      const asks = { role: 'user', content: 'What was the constructor paid?' }
      for (const [path, sent] of [
        ['conversations', { metadata: { agent_id: agent }, items: [said] }],
        ['responses', { model: agent, input: [said, asks] }],
        ['chat/completions', { model: agent, messages: [said, asks] }],
      ] as const) {
        const { status, text } = await client.post(`^/openai/v1/${path}`, sent)
        assert.equal(status, 400, text)
        assert.match(text, /must be system, developer, user or assistant/)
      }
    })

  test('in a file, a question or an address is a word', async () => {
    for (const name of NAMES) {
      const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.${name.slice(0, 8)}"\r\nContent-Type: text/plain\r\n\r\nThe ${name} is red.\r\n--b--\r\n`
      const headers = { 'content-type': 'multipart/form-data; boundary=b' }
      const added = await client.post(`/agents/${agent}/documents/upload`, undefined, { bytes: Buffer.from(file), headers })
      isOk(added, 202)
      isOk(await client.post(`/agents/${agent}/search`, { query: `What is the ${name}?` }))
    }
    const origin = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
    assert.equal((await client.request('OPTIONS', '^/constructor/x', { headers: origin, key: null })).status, 404)
    const { session } = (await client.post(`/agents/${agent}/sessions`, {})).body
    isOk(await client.post(`/agents/${agent}/sessions/${session.id}/messages`, { message: 'What was the constructor paid?' }))
  })
})
