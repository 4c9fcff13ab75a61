import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { InTurn } from '../../src/core/fairness/in-turn.ts'
import { type Response, serveInTurn } from '../../src/knowledge/rpc.ts'
import { NotYet } from '../../src/store/knowledge/reader/filters.ts'
import { until } from '../support/poll.ts'

describe('what waits in turn', () => {
  test('is taken owner by owner, and of each in order of arrival', () => {
    const waiting = new InTurn<string>()
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) waiting.add(item[0]!, item)
    waiting.remove('a', 'a2')
    waiting.remove('b', 'b1')
    assert.deepEqual([waiting.next(), waiting.next()], ['a1', 'c1'])
    waiting.add('d', 'd1')
    assert.deepEqual([waiting.next(), waiting.next(), waiting.next(), waiting.next()], ['a3', 'c2', 'd1', undefined])
  })

  test('is taken key by key, and within a key user by user', () => {
    const waiting = new InTurn<string>()
    const owners = ['a/1', 'a/1', 'a/2', 'a', 'b', 'b', 'c/1', 'b']
    for (const owner of owners) waiting.add(owner, owner)
    waiting.remove('c/1', 'c/1')
    waiting.remove('c/1', 'c/1')
    const taken = Array.from(owners, () => waiting.next())
    assert.deepEqual(taken, ['a/1', 'b', 'a/2', 'b', 'a', 'b', 'a/1', undefined])
    assert.ok(waiting.isEmpty)
  })

  test('of a whole that may not go is not looked at', () => {
    const waiting = new InTurn<string>()
    for (const owner of ['a/1', 'a/2', 'b/1']) waiting.add(owner, owner)
    const looked: string[] = []
    const mayGo = (owner: string) => looked.push(owner) > 0
    assert.equal(
      waiting.next(mayGo, (whole) => whole !== 'a'),
      'b/1',
    )
    assert.equal(
      waiting.next(mayGo, (whole) => whole !== 'a'),
      undefined,
    )
    assert.deepEqual(looked, ['b/1'])
    assert.deepEqual([waiting.next(mayGo), waiting.next(mayGo)], ['a/1', 'a/2'])
  })

  test('is found in the same way if it is one item', () => {
    const waiting = new InTurn<string>()
    waiting.add('a', 'a1')
    assert.equal(waiting.isEmpty, false)
    assert.deepEqual([...waiting.owners()], ['a'])
    assert.deepEqual([waiting.firstOf('a'), waiting.firstOf('b')], ['a1', undefined])
    assert.equal(
      waiting.next((owner) => owner === 'b'),
      undefined,
    )
    waiting.remove('a', 'a2')
    assert.deepEqual([waiting.takeFrom('b'), waiting.takeFrom('a'), waiting.takeFrom('a')], [undefined, 'a1', undefined])
    assert.ok(waiting.isEmpty)
    waiting.add('a', 'a1')
    waiting.remove('a', 'a1')
    assert.ok(waiting.isEmpty)
    waiting.add('a', 'a3')
    waiting.putBack('a', ['a1', 'a2'])
    assert.deepEqual([waiting.next(), waiting.next(), waiting.next(), waiting.next()], ['a1', 'a2', 'a3', undefined])
    waiting.putBack('a', ['a1', 'a2'])
    assert.deepEqual([waiting.next(), waiting.next(), waiting.next()], ['a1', 'a2', undefined])
  })
})

test('a question to one agent does not wait for many to another', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  const asked: string[] = []
  serveInTurn(thread, { ask: (agentId: string, n: number) => asked.push(`${agentId}${n}`) })
  const answered: number[] = []
  const all = new Promise<void>((resolve) => {
    caller.on('message', (response: Response) => {
      if ('id' in response) answered.push(response.id)
      caller.postMessage({ handled: 1 })
      if (answered.length === 21) resolve()
    })
  })
  for (let n = 0; n < 20; n++) caller.postMessage({ id: n, method: 'ask', args: ['busy', n] })
  caller.postMessage({ id: 20, method: 'ask', args: ['quiet', 0] })
  await all
  assert.ok(asked.indexOf('quiet0') <= 2, asked.join(' '))
  assert.deepEqual(
    asked.filter((ask) => ask.startsWith('busy')),
    Array.from({ length: 20 }, (_, n) => `busy${n}`),
  )
  caller.close()
})

test('a question of one key does not wait for those of another to many agents', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  const asked: string[] = []
  serveInTurn(thread, { ask: (agentId: string) => asked.push(agentId) })
  const all = new Promise<void>((resolve) => {
    caller.on('message', () => {
      caller.postMessage({ handled: 1 })
      if (asked.length === 21) resolve()
    })
  })
  for (let n = 0; n < 20; n++) caller.postMessage({ id: n, method: 'ask', args: [`agent${n}`, { askedBy: 'many' }] })
  caller.postMessage({ id: 20, method: 'ask', args: ['mine', 'id', { askedBy: 'one' }] })
  await all
  assert.ok(asked.indexOf('mine') <= 2, asked.join(' '))
  caller.close()
})

test('of questions that wait for a database, one agent has some under way and leaves room for others', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  const asked: string[] = []
  const { promise: database, resolve: answer } = Promise.withResolvers<void>()
  serveInTurn(thread, {
    async ask(agentId: string, { askedBy }: { askedBy: string }) {
      asked.push(`${agentId} ${askedBy}`)
      await database
    },
  })
  let answered = 0
  caller.on('message', () => {
    answered++
    caller.postMessage({ handled: 1 })
  })
  for (let n = 0; n < 100; n++) caller.postMessage({ id: n, method: 'ask', args: ['busy', { askedBy: 'one' }] })
  for (const [agent, askedBy] of [
    ['busy', 'two'],
    ['quiet', 'one'],
  ])
    caller.postMessage({ id: 100, method: 'ask', args: [agent, { askedBy }] })
  await until('all that may be are under way', () => asked.includes('busy two') && asked.includes('quiet one'))
  assert.ok(asked.length <= 16, `${asked.length} are under way`)
  answer()
  await until('all are answered', () => answered === 102)
  caller.close()
})

test('questions of many keys to many agents do not delay those of a key that asked little', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  const asked: string[] = []
  const { promise: all, resolve: done } = Promise.withResolvers<void>()
  serveInTurn(thread, {
    ask(agentId: string) {
      asked.push(agentId)
      if (agentId !== 'quiet') for (const until = performance.now() + 5; performance.now() < until; );
    },
  })
  const busy = Array.from({ length: 20 }, (_, n) => `busy${n}`)
  let answered = 0
  caller.on('message', () => {
    caller.postMessage({ handled: 1 })
    if (++answered === busy.length) caller.postMessage({ id: 1_000, method: 'ask', args: ['quiet'] })
    if (answered === 5 * busy.length + 1) done()
  })
  for (let n = 0; n < 5; n++) for (const agent of busy) caller.postMessage({ id: n, method: 'ask', args: [agent] })
  await all
  // Some more may be answered before it arrives, and a turn of each of the others would be twenty.
  assert.ok(asked.indexOf('quiet') < busy.length + 15, asked.join(' '))
  caller.close()
})

test('answers wait until earlier ones were handled', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  let asked = 0
  serveInTurn(thread, { ask: () => ++asked })
  let answered = 0
  caller.on('message', () => answered++)
  for (let id = 0; id < 100; id++) caller.postMessage({ id, method: 'ask', args: ['agent'] })
  await until('some are answered', () => answered > 0)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  assert.ok(asked < 20, `${asked} were asked`)
  caller.on('message', () => caller.postMessage({ handled: 1 }))
  caller.postMessage({ handled: answered })
  await until('all are answered', () => answered === 100)
  caller.close()
})

test('of long answers few wait to be handled', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  let asked = 0
  serveInTurn(thread, { ask: () => ({ texts: ['x'.repeat(100_000), 'x'.repeat(100_000)], n: ++asked }) })
  let answered = 0
  caller.on('message', () => answered++)
  for (let id = 0; id < 10; id++) caller.postMessage({ id, method: 'ask', args: ['agent'] })
  await until('some are answered', () => answered > 1)
  for (let i = 0; i < 100; i++) await new Promise(setImmediate)
  assert.equal(asked, 2)
  caller.on('message', () => caller.postMessage({ handled: 1 }))
  caller.postMessage({ handled: answered })
  await until('all are answered', () => answered === 10)
  caller.close()
})

test('a question that needs several turns lets others come in between', async () => {
  const { port1: thread, port2: caller } = new MessageChannel()
  const asked: string[] = []
  let turns = 0
  serveInTurn(thread, {
    ask(agentId: string) {
      asked.push(agentId)
      if (agentId === 'large' && ++turns < 4) throw new NotYet()
      return `answer of ${agentId}`
    },
  })
  const answers: Response[] = []
  const both = new Promise<void>((resolve) => {
    caller.on('message', (response: Response) => {
      if (answers.push(response) === 2) resolve()
    })
  })
  caller.postMessage({ id: 1, method: 'ask', args: ['large'] })
  caller.postMessage({ id: 2, method: 'ask', args: ['small'] })
  await both
  assert.deepEqual(answers, [
    { id: 2, value: 'answer of small' },
    { id: 1, value: 'answer of large' },
  ])
  assert.deepEqual(asked, ['large', 'small', 'large', 'large', 'large'])
  caller.close()
})
