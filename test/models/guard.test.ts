import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ReparteeError } from '../../src/core/errors.ts'
import type { EmbeddingCall } from '../../src/core/ports/embedding.ts'
import { type ChatModel, type ModelReply, NoText } from '../../src/core/ports/model.ts'
import type { RerankCall } from '../../src/core/ports/reranker.ts'
import { Breaker, Breakers } from '../../src/models/breaker.ts'
import { guardModels, guardReranker } from '../../src/models/guard.ts'
import { failed, refused } from '../../src/models/transport/failure.ts'
import { never, request } from '../contract/model.ts'

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
  const ask = (of = signal, { agentId = 'a', name = 'some/model' } = {}) =>
    models.find(name).generate(request({ grounding: { ...request().grounding, agentId } }), { signal: of })
  return { ask }
}

/** A provider whose calls end when told, and who made those that have begun. */
function held() {
  const begun: string[] = []
  const ends: (() => void)[] = []
  const begin = async (who: string) => {
    begun.push(who)
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const endNext = async () => {
    ends.shift()!()
    await new Promise(setImmediate)
  }
  return { begun, begin, endNext }
}

test('replies that grow have so much memory together, and each caller a part of it', async () => {
  const long = 'x'.repeat(200_000)
  const model: ChatModel = {
    async generate(_, { onText, signal }) {
      onText!(long)
      signal.throwIfAborted()
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    },
  }
  const models = guardModels(
    { find: () => model, findEmbedding: () => assert.fail(), list: async () => [] },
    { ...limits, modelTimeoutMs: 1e8, maxReplyChars: 1e6, modelConcurrency: 1_000, breaker: false },
    () => 0,
  )
  const ask = (keyId: string, signal: AbortSignal) =>
    models.find('some/model').generate(request({ grounding: { ...request().grounding, agentId: keyId } }), {
      signal,
      keyId,
      onText: () => {},
    })
  for (let round = 0; round < 2; round++) {
    const stop = new AbortController()
    const failures: string[] = []
    const calls = Array.from({ length: 300 }, () =>
      ask('greedy', stop.signal).catch(({ message }: Error) => failures.push(message)),
    )
    await new Promise(setImmediate)
    assert.ok(failures.length > 100 && failures.length < 250, `${failures.length} were given up`)
    assert.match(failures[0]!, /sends too much at the same time/)
    const other = ask('modest', stop.signal)
    await new Promise(setImmediate)
    stop.abort()
    await assert.rejects(other, { name: 'AbortError' })
    // The second round shows that all of it was given back.
    await Promise.all(calls)
  }
})

describe('calls at once, of which one is allowed,', () => {
  const signal = new AbortController().signal
  const calls = [
    { agentId: 'a', keyId: '1', signal },
    { agentId: 'a', keyId: '1', signal },
    { agentId: 'a', keyId: '1', signal },
    { agentId: 'a', keyId: '2', signal },
    { agentId: 'b', keyId: '1', signal },
  ]
  const whose = ({ agentId, keyId }: { agentId: string; keyId?: string | undefined }) => `${agentId} ${keyId}`

  for (const what of ['a reranker', 'an embedding model'])
    test(`of ${what} go to agents and keys in turn`, async () => {
      const { begun, begin, endNext } = held()
      const score = async (_: string, documents: readonly string[], call: RerankCall) => {
        await begin(whose(call))
        return documents.map(() => 0)
      }
      const embed = async (_: readonly string[], call: EmbeddingCall) => {
        await begin(whose(call))
        return []
      }
      const reranker = guardReranker({ score }, limits, () => 0)
      const models = { find: () => assert.fail(), findEmbedding: () => ({ maxTexts: 1, embed }), list: async () => [] }
      const embedding = guardModels(models, { ...limits, modelTimeoutMs: 1e9 }, () => 0).findEmbedding('some/model')
      const ask = (call: RerankCall) =>
        what === 'a reranker' ? reranker.score('q', ['d'], call) : embedding.embed(['q'], { ...call, purpose: 'question' })
      const answered = Promise.all(calls.map(ask))
      await nextTurn()
      for (let i = 0; i < calls.length; i++) {
        assert.equal(begun.length, i + 1)
        await endNext()
      }
      await answered
      assert.deepEqual(begun, ['a 1', 'a 1', 'a 2', 'b 1', 'a 1'])
    })

  for (const [about, reason, ms, isCounted] of [
    ['in silence until their time is over, count as failed', new DOMException('late', 'TimeoutError'), 3_000, true],
    ['whose time was over before they began, do not', new DOMException('late', 'TimeoutError'), 10, false],
    ['that their caller gave up, do not', new DOMException('left', 'AbortError'), 3_000, false],
  ] as const)
    test(`that are given up ${about}`, async () => {
      let [now, count] = [0, 0]
      let stop = new AbortController()
      const score = async () => {
        count++
        now += ms
        stop.abort(reason)
        throw failed('it broke', { transient: true })
      }
      const reranker = guardReranker({ score }, { ...limits, breakerPauseMs: 1e9 }, () => now)
      for (let i = 0; i < 6; i++) {
        stop = new AbortController()
        await assert.rejects(reranker.score('q', ['d'], { agentId: 'a', signal: stop.signal }))
      }
      assert.equal(count, isCounted ? limits.breakerFailures : 6)
    })

  test('of a reranker that fails again and again, are refused for its agent', async () => {
    let count = 0
    const score = async () => {
      count++
      throw refused(500, {}, '')
    }
    const reranker = guardReranker({ score }, limits, () => 0)
    for (let i = 0; i < 6; i++) await assert.rejects(reranker.score('q', ['d'], { agentId: 'a', signal }))
    assert.equal(count, 3)
  })
})

describe('what opens a breaker', () => {
  const kinds: [string, unknown, boolean][] = [
    ['500', refused(500, {}, ''), true],
    ['503 that says when to come back', refused(503, { 'retry-after': '30' }, ''), true],
    ['a broken connection', failed('it broke', { transient: true }), true],
    ['silence', new ReparteeError('model_timeout', 'silent'), true],
    ['429', refused(429, {}, ''), false],
    ['429 that says when to come back', refused(429, { 'retry-after': '30' }, ''), false],
    ['401', refused(401, {}, ''), false],
    ['a reply that is too long', failed('too long'), false],
    ['a reply without text', failed('no text', { transient: true, cause: new NoText(null) }), false],
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

describe('the breaker of an agent and its model', () => {
  /** Fails until the breaker is open, then the model works. */
  const opened = async () => {
    let works = false
    const { ask } = guarded(async () => {
      if (!works) throw refused(500, {}, '')
      return reply
    })
    for (let i = 0; i < 3; i++) await assert.rejects(ask())
    works = true
    await assert.rejects(ask(), { message: /failed many times in a row/ })
    return ask
  }

  test('refuses no other model of the provider', async () => {
    const ask = await opened()
    assert.equal(await ask(never, { name: 'some/other' }), reply)
  })

  test('refuses no other agent that uses the model', async () => {
    const ask = await opened()
    assert.equal(await ask(never, { agentId: 'b' }), reply)
  })

  test('is forgotten after 10,000 others were used, and no earlier', () => {
    const breakers = new Breakers({ breakerFailures: 1, breakerPauseMs: 1_000 }, () => 0)
    breakers.of('a', 'm').enter().failed()
    for (let i = 1; i < 10_000; i++) breakers.of('a', `other ${i}`).enter().failed()
    assert.throws(() => breakers.of('a', 'm').enter())
    for (let i = 0; i < 10_000; i++) breakers.of('a', `yet another ${i}`).enter().failed()
    breakers.of('a', 'm').enter()
  })
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

test('calls that wait when the breaker opens are refused one by one, with time for requests in between', async () => {
  const gate = Promise.withResolvers<ModelReply>()
  let calls = 0
  const { ask } = guarded(() => {
    calls++
    return gate.promise
  })
  const refusedAt: number[] = []
  let turn = 0
  const all = Array.from({ length: 30 }, () => ask().catch(() => refusedAt.push(turn)))
  gate.reject(refused(500, {}, ''))
  for (; refusedAt.length < 30; turn++) await nextTurn()
  await Promise.all(all)
  assert.equal(calls, 3)
  const refusals = refusedAt.slice(3)
  assert.equal(new Set(refusals).size, refusals.length, `turns of the refusals: ${refusals}`)
})

test('a call does not wait for a slot while its breaker is open', async () => {
  const { promise: silent } = Promise.withResolvers<ModelReply>()
  let fails = true
  const { ask } = guarded(async () => {
    if (fails) throw refused(500, {}, '')
    return silent
  })
  for (let i = 0; i < 3; i++) await assert.rejects(ask())
  fails = false
  ask(undefined, { agentId: 'b' })
  await assert.rejects(ask(), { message: /failed many times in a row/ })
})
