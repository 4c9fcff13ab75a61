import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ReparteeError } from '../src/core/errors.ts'
import type { ChatModel, ModelReply } from '../src/core/model.ts'
import { Breaker } from '../src/models/breaker.ts'
import { failed, refused, sentNoText } from '../src/models/failure.ts'
import { guardModels } from '../src/models/guard.ts'
import { request } from './contract/model.ts'

const reply: ModelReply = { text: 'ok', model: 'm', usage: null, finish: 'stop' }
const limits = {
  modelTimeoutMs: 1_000,
  maxReplyChars: 1_000,
  modelConcurrency: 1,
  breaker: true,
  breakerFailures: 3,
  breakerPauseMs: 1_000,
}
/** Asks a model behind the guard. */
function guarded(generate: ChatModel['generate']) {
  const models = guardModels(
    { find: () => ({ generate }), findEmbedding: () => assert.fail(), list: async () => [] },
    limits,
    () => 0,
  )
  const signal = new AbortController().signal
  return { ask: (of = signal) => models.find('some/model').generate(request(), { signal: of }) }
}

describe('what opens the breaker of a provider', () => {
  const kinds: [string, unknown, boolean][] = [
    ['500', refused(500, {}, ''), true],
    ['503 that says when to come back', refused(503, { 'retry-after': '30' }, ''), true],
    ['a broken connection', failed('it broke', { transient: true }), true],
    ['silence', new ReparteeError('model_timeout', 'silent'), true],
    ['429', refused(429, {}, ''), false],
    ['429 that says when to come back', refused(429, { 'retry-after': '30' }, ''), false],
    ['401', refused(401, {}, ''), false],
    ['a reply that is too long', failed('too long'), false],
    ['a reply without text', sentNoText(), false],
  ]
  for (const [about, error, opens] of kinds) {
    test(`${about}: ${opens ? 'yes' : 'no'}`, async () => {
      let calls = 0
      const { ask } = guarded(async () => {
        calls++
        throw error
      })
      for (let i = 0; i < 6; i++) await assert.rejects(ask())
      assert.equal(calls, opens ? 3 : 6)
    })
  }
})

describe('a breaker', () => {
  const opened = () => {
    let now = 0
    const breaker = new Breaker({ breakerFailures: 2, breakerPauseMs: 100 }, () => now)
    const before = [breaker.enter(), breaker.enter(), breaker.enter(), breaker.enter()]
    before[0]!.failed()
    before[1]!.failed()
    const at = (time: number) => {
      now = time
      return breaker
    }
    return { at, before }
  }

  test('lets one call try after its pause, and no other until that one has told', () => {
    const { at } = opened()
    assert.throws(() => at(99).enter(), { code: 'model_failed', retryAfter: 1 })
    const trial = at(100).enter()
    assert.throws(() => at(150).enter())
    trial.worked()
    at(150).enter()
  })

  test('is closed again for as long where the one that tried failed', () => {
    const { at } = opened()
    at(100).enter().failed()
    assert.throws(() => at(199).enter())
    at(200).enter()
  })

  test('lets another try where the one that tried was stopped', () => {
    const { at } = opened()
    at(100).enter().dropped()
    at(100).enter()
  })

  test('takes nothing from calls that began before it opened, but that they worked', () => {
    const { at, before } = opened()
    at(90)
    before[2]!.failed() // does not make the pause longer
    at(100).enter()
    before[2]!.dropped() // is not the one that tries
    assert.throws(() => at(100).enter())
    before[3]!.worked()
    at(100).enter()
  })
})

test('a call that was stopped in the moment it got its slot is not made', async () => {
  let calls = 0
  const gate = Promise.withResolvers<ModelReply>()
  const { ask } = guarded(() => {
    calls++
    return gate.promise
  })
  const abort = new AbortController()
  const first = ask()
  const second = ask(abort.signal)
  gate.resolve(reply)
  // Behind the reply of the first, before the second goes on with the slot.
  first.then(() => abort.abort())
  await assert.rejects(second)
  assert.equal(calls, 1)
})
