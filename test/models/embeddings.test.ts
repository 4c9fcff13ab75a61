import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import type { EmbeddingModel } from '../../src/core/ports/embedding.ts'
import { embeddingModel } from '../../src/models/embeddings.ts'
import { openReranker } from '../../src/models/reranker.ts'
import { listen } from '../support/cleanup.ts'
import { EmbeddingServer } from '../support/embedding-server.ts'

describe('an answer with vectors', () => {
  const server = new EmbeddingServer()
  before(() => server.start())
  after(() => server.stop())

  const model = (protocol: 'chat' | 'ollama'): EmbeddingModel =>
    embeddingModel('words', { name: 'test', protocol, baseUrl: server.url, apiKey: undefined, headers: {} })!
  const embed = (protocol: 'chat' | 'ollama', texts: string[]) =>
    model(protocol).embed(texts, { agentId: 'one', purpose: 'passage', signal: AbortSignal.timeout(60_000) })

  for (const protocol of ['chat', 'ollama'] as const)
    test(`by the protocol ${protocol} may have 8,192 dimensions, and then holds fewer texts`, async () => {
      server.refusesBase64 = true
      const tried = model(protocol)
      const calls: number[] = []
      for (const dimensions of [8_192, 8_192, 1_536, 1_536, 64]) {
        server.dimensions = dimensions
        const texts = Array.from({ length: tried.maxTexts }, (_, n) => `text ${n}`)
        const vectors = await tried.embed(texts, { agentId: 'one', purpose: 'passage', signal: AbortSignal.timeout(60_000) })
        assert.deepEqual([vectors.length, vectors.at(-1)!.length], [texts.length, dimensions])
        calls.push(texts.length)
      }
      assert.deepEqual(calls, [12, 12, 12, 64, 64])
    })

  test('is read where its vectors became longer since the last', async () => {
    server.refusesBase64 = true
    const tried = model('chat')
    const embed = (count: number) =>
      tried.embed(
        Array.from({ length: count }, (_, n) => `text ${n}`),
        { agentId: 'one', purpose: 'passage', signal: AbortSignal.timeout(60_000) },
      )
    server.dimensions = 64
    await embed(1)
    assert.equal(tried.maxTexts, 64)
    server.dimensions = 8_192
    await assert.rejects(embed(tried.maxTexts), { code: 'model_failed' })
    assert.equal((await embed(tried.maxTexts)).length, 12)
  })

  // Parsing half a million numbers takes long enough to hold up everybody.
  for (const { form, protocol, refusesBase64 } of [
    { form: 'numbers', protocol: 'chat', refusesBase64: true },
    { form: 'base64', protocol: 'chat', refusesBase64: false },
    { form: 'numbers', protocol: 'ollama', refusesBase64: true },
  ] as const)
    test(`by the protocol ${protocol}, of very many dimensions as ${form}, is not parsed`, async (t) => {
      server.dimensions = 500_000
      server.refusesBase64 = refusesBase64
      const parse = t.mock.method(JSON, 'parse')
      await assert.rejects(embed(protocol, ['one text']), { code: 'model_failed' })
      const lengths = parse.mock.calls.map(({ arguments: [text] }) => text.length)
      assert.deepEqual(
        lengths.filter((length) => length > 1_000),
        [],
      )
    })
})

describe('what is no answer', () => {
  let body: string
  let url: string
  before(async () => {
    url = `http://127.0.0.1:${await listen(createServer((_request, response) => response.end(body)))}`
  })

  for (const said of ['null', '[null]', '{"data":[null]}', '{"results":[null]}', '{"embeddings":[null]}', '7'])
    test(`such as ${said}, fails as one of the provider`, async () => {
      body = said
      const signal = AbortSignal.timeout(60_000)
      for (const protocol of ['chat', 'ollama'] as const) {
        const model = embeddingModel('words', { name: 'test', protocol, baseUrl: url, apiKey: undefined, headers: {} })!
        await assert.rejects(model.embed(['a'], { agentId: 'one', purpose: 'passage', signal }), { code: 'model_failed' })
      }
      const reranker = openReranker({ url, model: undefined, apiKey: undefined })
      await assert.rejects(reranker.score('a', ['b'], { agentId: 'one', signal }), { code: 'model_failed' })
    })
})

test('an answer of a reranker that is much longer than what it was asked is not parsed', async (t) => {
  const results = [{ index: 0, relevance_score: 0.5 }]
  let body = ''
  const port = await listen(createServer((_request, response) => response.end(body)))
  const reranker = openReranker({ url: `http://127.0.0.1:${port}`, model: undefined, apiKey: undefined })
  const score = () => reranker.score('a', ['b'], { agentId: 'one', signal: AbortSignal.timeout(60_000) })
  for (const words of ['a'.repeat(100_000), Array.from({ length: 1_000 }, () => 1)]) {
    body = JSON.stringify({ results, words })
    const parse = t.mock.method(JSON, 'parse')
    await assert.rejects(score(), { code: 'model_failed' })
    assert.equal(parse.mock.callCount(), 0)
    parse.mock.restore()
  }
  body = JSON.stringify({ results: [{ ...results[0], document: { text: 'b' } }] })
  assert.deepEqual(await score(), [0.5])
})
