import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

const options = { skip: needsProcess }
let service: Service
let env: Record<string, string>
let agent: string
let set: string
const SET = [
  {
    id: 'kettle',
    question: 'How much does the Aurora kettle hold?',
    answers: ['1.7 litres', '1.7 liters'],
    documents: ['Kettle'],
  },
  { id: 'lamp', question: 'How long does the Boreal lamp burn?', answers: ['fifty hours'], documents: ['lamp'] },
  { id: 'moon', question: 'What does the moon weigh in kilograms?', answerable: false },
  {
    id: 'follow',
    question: 'And how long does it burn?',
    history: [
      { role: 'USER', content: 'Tell me about the Boreal lamp.' },
      { role: 'AI', content: 'The Boreal lamp burns for forty hours.' },
    ],
    documents: ['Lamp'],
  },
]
const write = (lines: object[]) => writeFileSync(set, lines.map((line) => JSON.stringify(line)).join('\n'))
before(async () => {
  if (needsProcess) return
  service = await startService()
  env = { REPARTEE_DATA: service.data }
  agent = `/agents/${await service.newAgent({ name: 'House', model: 'extractive' })}`
  for (const [title, text] of [
    ['Kettle', 'The Aurora kettle holds 1.7 litres of water.'],
    ['Lamp', 'The Boreal lamp burns for forty hours.'],
  ])
    await service.client.post(`${agent}/documents`, { title, text })
  await until(
    'both are ready',
    async () => (await service.client.get(`${agent}/documents?status=ready`)).body.pagination.total === 2,
  )
  set = join(service.data, 'questions.jsonl')
})
after(() => service?.stop())

test('a set is asked, scored and kept; nothing of it stays in the service', options, async () => {
  write(SET)
  const { code, stdout, stderr } = await repartee(['eval', 'House', set], env)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^recall@5 +1\.000$/m)
  assert.match(stdout, /^answers +0\.500$/m)
  assert.match(stdout, /^refusals +1\.000$/m)
  assert.match(stdout, /^answered +1\.000$/m)
  assert.match(stdout, /4 questions: 3 of 4 right\./)
  assert.match(stdout, /Wrong:\n {2}lamp {2}How long does the Boreal lamp burn\?\n {6}The Boreal lamp burns for forty hours/)
  const { scores, outcomes } = JSON.parse(readFileSync(join(service.data, 'questions.run.json'), 'utf8'))
  assert.deepEqual([scores.answers, scores.citations], [0.5, 1])
  assert.deepEqual(
    outcomes.map(({ id, isRight }: { id: string; isRight: boolean }) => [id, isRight]),
    [
      ['kettle', true],
      ['lamp', false],
      ['moon', true],
      ['follow', true],
    ],
  )
  assert.equal((await service.client.get(`${agent}/sessions`)).body.sessions.length, 0)
})

test('the next run says what is better and what is worse, and fails where it may not be', options, async () => {
  write([{ ...SET[0], answers: ['two litres'] }, { ...SET[1], answers: ['forty hours'] }, SET[2]!])
  const args = ['eval', 'House', set, '--min', 'answers=0.9,refusals=1', '--no-worse']
  const { code, stdout, stderr } = await repartee(args, env)
  assert.equal(code, 1)
  assert.match(stdout, /^answers +0\.500 +0\.500 \(\+0\.000\)$/m)
  assert.match(stdout, /Right before, and wrong now:\n {2}kettle/)
  assert.match(stdout, /Wrong before, and right now:\n {2}lamp/)
  assert.match(stderr, /answers is 0\.500, and should be 0\.9 or more/)
  assert.doesNotMatch(stderr, /refusals/)
  assert.match(stderr, /1 question right before, and wrong now/)
  // The same again: what is worse did not become what is compared with.
  assert.match((await repartee(args, env)).stdout, /Right before, and wrong now:\n {2}kettle/)
  assert.equal((await repartee(['eval', 'House', set], env)).code, 0)
  write([SET[0]!, { ...SET[1], answers: ['forty hours'] }])
  const { worse, better } = JSON.parse((await repartee([...args, '--json'], env)).stdout)
  assert.deepEqual([worse.length, better.map(({ id }: { id: string }) => id)], [0, ['kettle']])
})

test('rated replies become a question set that can be asked again', options, async () => {
  const session = (await service.client.post(`${agent}/sessions`, {})).body.session.id
  const messages = `${agent}/sessions/${session}/messages`
  const ask = async (message: string) => (await service.client.post(messages, { message })).body.aiMessage.id as string
  const good = await ask('How much does the Aurora kettle hold?')
  const bad = await ask('What does the moon weigh in kilograms?')
  await ask('How long does the Boreal lamp burn?')
  await service.client.put(`${messages}/${good}/feedback`, { rating: 'up' })
  await service.client.put(`${messages}/${bad}/feedback`, { rating: 'down' })
  const { stdout, stderr, code } = await repartee(['eval-export', 'House', '--since', '1d'], env)
  assert.equal(code, 0, stderr)
  const [first, second, ...more] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(more, [])
  assert.deepEqual(first, { id: good, question: 'How much does the Aurora kettle hold?', documents: ['Kettle'] })
  assert.equal(second.question, 'What does the moon weigh in kilograms?')
  assert.equal(second.history.length, 2)
  assert.equal(second.documents, undefined)
  writeFileSync(set, stdout)
  const again = await repartee(['eval', 'House', set, '--run', join(service.data, 'other.json')], env)
  assert.equal(again.code, 0, again.stderr)
  assert.match(again.stdout, /2 questions: 1 of 1 right/)
})

for (const [about, line, reason] of [
  ['no JSON', '{', /questions\.jsonl:1: is not valid JSON/],
  ['an unknown field', '{"question":"x","answer":"y"}', /questions\.jsonl:1: "answer" is not known/],
  ['no question', '{"answers":["y"]}', /:1: "question" must be a text/],
  ['answers that are no list', '{"question":"x","answers":"y"}', /"answers" must be a list of texts/],
  ['nothing', ' ', /There are no questions/],
] as const)
  test(`a set with ${about} is refused by its line`, options, async () => {
    writeFileSync(set, line)
    const { code, stderr } = await repartee(['eval', 'House', set], env)
    assert.equal(code, 1)
    assert.match(stderr, reason)
  })

test('a score that does not exist cannot be asked for', options, async () => {
  write(SET)
  const { code, stderr } = await repartee(['eval', 'House', set, '--min', 'answer=0.8'], env)
  assert.equal(code, 2)
  assert.match(stderr, /"answer=0\.8" is none/)
})
