import assert from 'node:assert/strict'
import { test } from 'node:test'
import { says } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'
import { oneAgent, type StubAnswer, type StubRequest, stubService } from './stub-service.ts'

/** A service whose agent replies to each question, citing one source and offering two questions. */
const talkative = (reply = (question: string) => `About **${question}** [1].`) => {
  let sessions = 0
  return (request: StubRequest): StubAnswer => {
    if (request.path.startsWith('/agents?')) return [200, oneAgent]
    if (request.path.endsWith('/sessions')) return [201, { success: true, session: { id: `session-${++sessions}` } }]
    const { message } = JSON.parse(request.body)
    return [
      200,
      {
        success: true,
        aiMessage: { content: reply(message) },
        sources: [{ index: 1, title: 'The book', url: 'https://example.org/b', snippet: 'A word.\n'.repeat(60), score: 1 }],
        followUps: [
          { id: '1', text: 'What next?', confidence: 1 },
          { id: '2', text: 'And then?', confidence: 1 },
        ],
      },
    ]
  }
}
const asked = (requests: StubRequest[]) =>
  requests
    .filter(({ path }) => path.endsWith('/messages'))
    .map(({ path, body }) => [path.split('/')[4], JSON.parse(body).message])

test('a question from a pipe is answered with its numbered sources and the questions it leads to', async (t) => {
  const stub = await stubService(talkative())
  t.after(stub.close)
  const { code, stdout, stderr } = await repartee(['chat', 'support'], stub.env, 'Holidays\n')
  assert.equal(code, 0, stderr)
  const lines = stdout.split('\n')
  assert.equal(lines[0], 'About **Holidays** [1].')
  assert.match(lines[2]!, /^\[1\] The book <https:\/\/example\.org\/b> — A word\. A word\. .*…$/)
  assert.deepEqual(lines.slice(4, 6), ['1) What next?', '2) And then?'])
  assert.doesNotMatch(stdout, /\x1b/)
})

test('one line is one question of one conversation; a number asks what is offered, /new starts anew', async (t) => {
  const stub = await stubService(talkative())
  t.after(stub.close)
  await repartee(['chat', 'Support'], stub.env, 'First\n\n2\n7\n/new\nFresh\n/quit\nNever\n')
  assert.deepEqual(asked(stub.requests), [
    ['session-1', 'First'],
    ['session-1', 'And then?'],
    ['session-1', '7'],
    ['session-2', 'Fresh'],
  ])
})

test('/sources shows the whole text behind the last reply', async (t) => {
  const stub = await stubService(talkative())
  t.after(stub.close)
  const { stdout } = await repartee(['chat', 'Support'], stub.env, '/sources\nHolidays\n/sources\n')
  assert.match(stdout, /^There are no sources\.\n/)
  assert.match(stdout, /(A word\. ){59}A word\.\n/)
})

test('looking in without a question makes no session', async (t) => {
  const stub = await stubService(talkative())
  t.after(stub.close)
  assert.equal((await repartee(['chat', 'Support'], stub.env, '/help\n')).code, 0)
  assert.deepEqual(
    stub.requests.filter(({ method }) => method === 'POST'),
    [],
  )
})

test('what a model writes cannot steer the terminal', async (t) => {
  const stub = await stubService(talkative(() => 'a\x1b[2Jb\x07c\r\nd\te\u202ef\u2066g'))
  t.after(stub.close)
  const { stdout } = await repartee(['chat', 'Support'], stub.env, 'x\n')
  assert.match(stdout, /^a\ufffd\[2Jb\ufffdc\nd\te\ufffdf\ufffdg\n/)
})

test('with a real service: the conversation is stored, and the model is given what was said before', {
  skip: needsProcess,
}, async (t) => {
  const service = await startService()
  t.after(service.stop)
  const agentId = await service.newAgent({ name: 'Real' })
  service.model.behaviour = says(({ body }) => `Reply to ${body.messages.at(-1)!.content}`)
  const { code, stdout, stderr } = await repartee(['chat', 'Real'], { REPARTEE_DATA: service.data }, 'One?\nTwo?\n')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /One\?.*Two\?/s)
  const { body } = await service.client.get(`/agents/${agentId}/sessions`)
  assert.deepEqual(
    body.sessions.map(({ totalMessages }: { totalMessages: number }) => totalMessages),
    [4],
  )
})

test('a question that fails does not end the others, but the exit code tells', { skip: needsProcess }, async (t) => {
  const service = await startService()
  t.after(service.stop)
  await service.newAgent({ name: 'Real' })
  service.model.behaviour = (call, response) =>
    call.body.messages.at(-1)!.content.includes('Bad') ? void response.writeHead(400).end('{}') : says('Fine.')(call, response)
  const { code, stdout, stderr } = await repartee(['chat', 'Real'], { REPARTEE_DATA: service.data }, 'Bad?\nGood?\n')
  assert.equal(code, 1)
  assert.match(stderr, /502 model_failed/)
  assert.match(stdout, /^Fine\./m)
})
