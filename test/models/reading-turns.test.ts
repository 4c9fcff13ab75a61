// A provider that sends fast, in events of one letter, leaves time for requests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChatModel, Models } from '../../src/core/ports/model.ts'
import { chatCompletionsModel } from '../../src/models/chat-completions.ts'
import { embeddingModel } from '../../src/models/embeddings.ts'
import { guardModels } from '../../src/models/guard.ts'
import { ollamaModel } from '../../src/models/ollama.ts'
import type { Protocol } from '../../src/models/provider.ts'
import { openReranker } from '../../src/models/reranker.ts'
import { Held, HeldBytes } from '../../src/models/transport/held-bytes.ts'
import { readBody, readJson, send } from '../../src/models/transport/http.ts'
import { ReadingTurns, readingTurns } from '../../src/models/transport/reading-turns.ts'
import { vendorModel } from '../../src/models/vendor-model.ts'
import { never, request } from '../contract/model.ts'
import { endsBy } from '../support/cleanup.ts'

/** A clock that goes on by a millisecond whenever it is read. */
function tickingClock(): () => number {
  let now = 0
  return () => now++
}

/** Reads a body with a clock that leaves time for two slices in each turn; returns the bytes that each turn of the event loop took. */
async function readBytes(url: URL, turns: ReadingTurns): Promise<number[]> {
  const response = await send(url, { headers: {}, signal: never })
  const byTurn: number[] = [0]
  let isReading = true
  const count = async () => {
    for (; isReading; await nextTurn()) byTurn.push(0)
  }
  const counting = count()
  const take = (slice: Buffer) => {
    byTurn[byTurn.length - 1]! += slice.length
  }
  await readBody(response, never, take, { pieces: 'events', turns })
  isReading = false
  await counting
  return byTurn
}

describe('the answer of a provider', () => {
  const EVENT = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
  const BODY = EVENT.repeat(20_000)

  test('is read whole, and little of it in each turn of the event loop', async () => {
    const server = createServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a fast provider', () => server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const turns = new ReadingTurns(tickingClock())
    const both = await Promise.all([readBytes(url, turns), readBytes(url, turns)])
    for (const bytes of both)
      assert.equal(
        bytes.reduce((sum, n) => sum + n, 0),
        BODY.length,
      )
    const most = Math.max(...both.flat())
    assert.ok(most <= 16_384, `${most} bytes in one turn`)
  })

  test('is handed over in few slices where small pieces of it came while it waited', async () => {
    const server = createServer((_request, response) => {
      for (let i = 0; i < 200; i++) response.write(EVENT)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a provider of small pieces', () => server.close())
    const response = await send(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), {
      headers: {},
      signal: never,
    })
    let now = 0
    // Each reading takes all the time of a turn.
    const turns = new ReadingTurns(() => (now += 10))
    const slices: Buffer[] = []
    await readBody(response, never, (slice) => void slices.push(slice), { pieces: 'events', turns })
    assert.equal(Buffer.concat(slices).toString(), EVENT.repeat(200))
    assert.ok(slices.length < 20, `${slices.length} slices`)
  })
})

describe('turns of reading', () => {
  test('go on in the order in which they began to wait', async () => {
    const turns = new ReadingTurns(tickingClock())
    const read: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) turns.run('', () => read.push(name))
    assert.deepEqual(read, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(read, ['a', 'b', 'c', 'd'])
    for (let i = 0; i < 10; i++) await nextTurn()
    assert.deepEqual(read, ['a', 'b', 'c', 'd', 'e'])
  })

  test('go to the keys in turn, and to the agents of a key', async () => {
    const turns = new ReadingTurns(tickingClock())
    const read: string[] = []
    for (const [line, name] of ['k/a', 'k/a', 'k/a', 'k/a', 'k/b', 'l/a'].map((line, i) => [line, `${line} ${i}`] as const))
      turns.run(line, () => read.push(name))
    for (let i = 0; i < 10; i++) await nextTurn()
    assert.deepEqual(read, ['k/a 0', 'k/a 1', 'k/a 2', 'l/a 5', 'k/b 4', 'k/a 3'])
  })

  test('leave out the time that other work takes', () => {
    let now = 0
    const turns = new ReadingTurns(() => now)
    let count = 0
    for (let i = 0; i < 10; i++) {
      turns.run('', () => count++)
      now += 1_000
    }
    assert.equal(count, 10)
  })

  test('go on behind work that took all of the time, and behind more than one turn can begin', async () => {
    let now = 0
    const turns = new ReadingTurns(() => now)
    let count = 0
    const goesOn = (ms: number) =>
      turns.later(
        '',
        async () => {
          count++
          await Promise.resolve()
          now += ms
        },
        true,
      )
    goesOn(5)
    goesOn(5)
    for (let i = 0; i < 100; i++) goesOn(0)
    for (let i = 0; i < 20; i++) await nextTurn()
    assert.equal(count, 102)
  })

  test('count the time of work that goes on in promises', async () => {
    let now = 0
    const turns = new ReadingTurns(() => now)
    const read: string[] = []
    const goesOn = (name: string, ms: number) =>
      turns.later(
        '',
        async () => {
          read.push(name)
          await Promise.resolve()
          now += ms
        },
        true,
      )
    for (const name of ['a', 'b', 'c', 'd', 'e']) goesOn(name, 1)
    goesOn('f', 5)
    turns.later('', () => read.push('g'))
    const byTurn: string[] = []
    for (let i = 0; i < 4; i++) {
      await nextTurn()
      byTurn.push(read.splice(0).join(''))
    }
    assert.deepEqual(byTurn, ['ab', 'cd', 'ef', 'g'])
  })
})

test('answers of every protocol are read in the turns of their key and agent', async (t) => {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a provider of all protocols', () => server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const lines: string[] = []
  let goingOn = 0
  for (const name of ['run', 'later'] as const) {
    const method = readingTurns[name].bind(readingTurns) as (line: string, read: () => void, goesOn?: boolean) => void
    t.mock.method(readingTurns, name, (line: string, read: () => void, goesOn?: boolean) => {
      lines.push(line)
      if (goesOn) goingOn++
      method(line, read, goesOn)
    })
  }
  const provider = (protocol: Protocol) => ({ name: 'p', protocol, baseUrl, apiKey: 'x', headers: {} })
  const call = { agentId: 'a', keyId: 'k', signal: never }
  const limits = {
    modelTimeoutMs: 9_000,
    maxReplyChars: 9,
    modelConcurrency: 9,
    breaker: false,
    breakerFailures: 9,
    breakerPauseMs: 9,
  }
  const guarded = (model: ChatModel) =>
    guardModels({ find: () => model } as unknown as Models, limits, Date.now)
      .find('p/m')
      .generate(request(), call)
  const asked: Record<string, () => Promise<unknown>> = {
    chat: () => guarded(chatCompletionsModel('m', provider('chat'))),
    ollama: () => guarded(ollamaModel('m', provider('ollama'))),
    vendor: () => guarded(vendorModel('m', { ...provider('anthropic'), protocol: 'anthropic' })),
    'OpenAI embeddings': () => embeddingModel('m', provider('chat'))!.embed(['x'], { ...call, purpose: 'question' }),
    'Ollama embeddings': () => embeddingModel('m', provider('ollama'))!.embed(['x'], { ...call, purpose: 'question' }),
    'Google embeddings': () => embeddingModel('m', provider('google'))!.embed(['x'], { ...call, purpose: 'question' }),
    reranker: () => openReranker({ url: baseUrl, model: 'm', apiKey: undefined }).score('x', ['x'], call),
  }
  for (const [name, ask] of Object.entries(asked)) {
    await assert.rejects(ask(), { code: 'model_failed' }, name)
    assert.deepEqual([...new Set(lines.splice(0))], ['k/a'], name)
    // The end of the body is parsed in a turn, and so is what follows.
    assert.ok(goingOn > 0, name)
    goingOn = 0
  }
})

describe('what is held of answers', () => {
  const owner = (keyId: string) => ({ agentId: keyId, keyId })

  test('of one key leaves some for others, and is given back', () => {
    const all = new HeldBytes(400_000)
    const [one, same, other] = [all.open(owner('a')), all.open(owner('a')), all.open(owner('b'))]
    assert.deepEqual([one.set(65_536), same.set(265_536), one.set(100_000), other.set(160_000)], [true, true, false, true])
    same.set(100_000)
    assert.equal(one.set(100_000), true)
    for (const held of [one, one, same, other]) held.end()
    assert.equal(all.open(owner('c')).set(265_536), true)
  })

  test('ends an answer for which there is no room, and goes on with small ones', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify('x'.repeat(Number(request.url!.slice(1)))))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a provider of long texts', () => server.close())
    const all = new HeldBytes(400_000)
    const read = async (bytes: number, held: Held) => {
      const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${bytes}`)
      const response = await send(url, { headers: {}, signal: never })
      return readBody(response, never, () => {}, { pieces: 'whole', held })
    }
    const [one, other] = [all.open(owner('a')), all.open(owner('a'))]
    await read(250_000, one)
    await assert.rejects(read(250_000, other), { code: 'model_failed', message: /too much at the same time/ })
    other.end()
    await read(50_000, other)
    one.end()
    await read(250_000, other)
  })

  test('is nothing once an answer was read, or failed', async (t) => {
    const held = t.mock.method(Held.prototype, 'end')
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.write(`["${'x'.repeat(100_000)}`)
      if (request.url === '/whole') response.end('"]')
      else setTimeout(() => response.destroy(), 20)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a provider that may break off', () => server.close())
    const url = (path: string) => new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
    await readJson(await send(url('/whole'), { headers: {}, signal: never }), never)
    assert.equal(held.mock.callCount(), 1)
    await assert.rejects(readJson(await send(url('/half'), { headers: {}, signal: never }), never))
    assert.equal(held.mock.callCount(), 2)
    await assert.rejects(readBody(await send(url('/half'), { headers: {}, signal: never }), never, () => {}, { pieces: 'whole' }))
    assert.equal(held.mock.callCount(), 3)
  })
})

test('an event has its limit whatever type the provider names', async () => {
  for (const type of ['text/event-stream', 'application/x-ndjson', 'text/plain']) {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', type)
      response.end(`data: ${'x'.repeat(60_000)}\n`.repeat(80))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a provider of one long event', () => server.close())
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const model = chatCompletionsModel('m', { name: 'p', protocol: 'chat', baseUrl, apiKey: 'x', headers: {} })
    const asked = model.generate(request(), { signal: never, onText() {} })
    await assert.rejects(asked, { code: 'model_failed', message: /more than a reply can hold/ }, type)
  }
})

test('a stream whose events are parsed later is handed over few events at a time', async () => {
  const BODY = 'event: ping\ndata: {"type":"ping"}\n\n'.repeat(1_000)
  const server = createServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a fast provider', () => server.close())
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const response = await send(url, { headers: {}, signal: never })
  const slices: string[] = []
  await readBody(response, never, (slice) => void slices.push(slice.toString()), { pieces: 'events', takesLater: true })
  assert.equal(slices.join(''), BODY)
  for (const slice of slices) assert.ok(slice.split('ping\n').length <= 4, slice)
})
