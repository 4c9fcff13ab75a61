import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { EmbeddingModel } from '../src/core/embedding.ts'
import { embeddingModel } from '../src/models/embeddings.ts'
import { EmbeddingServer } from './support/embedding-server.ts'

describe('an answer with vectors', () => {
  const server = new EmbeddingServer()
  before(() => server.start())
  after(() => server.stop())

  const model = (protocol: 'chat' | 'ollama'): EmbeddingModel =>
    embeddingModel('words', { name: 'test', protocol, baseUrl: server.url, apiKey: undefined, headers: {} })!
  const embed = (protocol: 'chat' | 'ollama', texts: string[]) =>
    model(protocol).embed(texts, { agentId: 'one', purpose: 'passage', signal: AbortSignal.timeout(60_000) })

  for (const protocol of ['chat', 'ollama'] as const)
    test(`by the protocol ${protocol} may have 8,192 dimensions for each text`, async () => {
      server.dimensions = 8_192
      server.refusesBase64 = true
      const texts = Array.from({ length: 64 }, (_, n) => `text ${n}`)
      const vectors = await embed(protocol, texts)
      assert.deepEqual([vectors.length, vectors[63]!.length], [64, 8_192])
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
