import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Hit } from '../src/core/retrieval.ts'
import { extractiveModel } from '../src/models/extractive.ts'
import { openModels } from '../src/models/models.ts'
import { openAiModel } from '../src/models/openai.ts'
import { modelContract, request } from './contract/model.ts'
import { ModelServer } from './support/model-server.ts'

const server = new ModelServer()
let baseUrl: string
before(async () => {
  baseUrl = await server.listen()
})
after(() => server.close())

const openAi = () => openAiModel('gpt', { baseUrl: `${baseUrl}/`, apiKey: 'sk-test', timeoutMs: 300 })
modelContract('OpenAI chat completions', () => server, openAi)

const never = new AbortController().signal
const hit = (text: string): Hit => ({
  documentId: 'd',
  passageId: 'p',
  title: '',
  heading: '',
  text,
  url: null,
  score: 1,
  scores: {},
})

describe('the OpenAI model', () => {
  test('sends name, messages and key, and settings only where they are set', async () => {
    server.reset()
    await openAi().generate(request(), never)
    await openAi().generate(request({ temperature: 0.2, maxOutputTokens: 50 }), never)
    const [plain, set] = server.calls
    assert.equal(plain!.path, '/v1/chat/completions')
    assert.equal(plain!.headers.authorization, 'Bearer sk-test')
    assert.deepEqual(plain!.body, { model: 'gpt', messages: request().prompt })
    assert.deepEqual([set!.body['temperature'], set!.body['max_completion_tokens']], [0.2, 50])
  })
})

describe('the extractive model', () => {
  const replyOf = async (quotes: { hit: number; text: string }[], confidence: number, minScore: number | null = null) => {
    const model = extractiveModel({ extract: async () => ({ quotes, confidence }) })
    const hits = quotes.map(({ text }) => hit(`Before. ${text} After.`))
    return model.generate(
      request({ grounding: { ...request().grounding, retrieval: { query: '', standsAlone: true, hits, confidence }, minScore } }),
      never,
    )
  }

  test('puts its quotes together, each with the mark of its passage', async () => {
    const { text, quotes, grounding } = await replyOf(
      [
        { hit: 0, text: 'One.' },
        { hit: 1, text: 'Two.' },
      ],
      0.9,
    )
    assert.equal(text, 'One. [1]\n\nTwo. [2]')
    assert.deepEqual(
      [...quotes!],
      [
        [1, 'One.'],
        [2, 'Two.'],
      ],
    )
    assert.deepEqual(grounding, { answered: true, confidence: 0.9 })
  })

  test('says that it does not know where the confidence is below the threshold, or below that of the agent', async () => {
    for (const reply of [
      await replyOf([{ hit: 0, text: 'One.' }], 0.2),
      await replyOf([{ hit: 0, text: 'One.' }], 0.7, 0.8),
      await replyOf([], 0.9),
    ]) {
      assert.match(reply.text, /^I don't know/)
      assert.equal(reply.grounding?.answered, false)
    }
    assert.equal((await replyOf([{ hit: 0, text: 'One.' }], 0.2, 0.1)).text, 'One. [1]')
  })

  test('a number in brackets that stood in the document is not taken for a mark', async () => {
    assert.equal((await replyOf([{ hit: 0, text: 'As shown [3].' }], 0.9)).text, 'As shown \\[3]. [1]')
  })

  test('behind several lines the mark has a line of its own, so that a block of code stays one', async () => {
    assert.equal((await replyOf([{ hit: 0, text: '```\nx\n```' }], 0.9)).text, '```\nx\n```\n\n[1]')
  })
})

describe('the names of models', () => {
  const knowledge = { extract: async () => ({ quotes: [], confidence: 0 }) }
  test('a name that no turn could use is refused, and says what would do', () => {
    const models = openModels({ openai: undefined }, knowledge)
    for (const name of ['gpt-5', 'openai/gpt-5', 'openai/', 'nobody/x', 'extractive/x']) {
      assert.throws(() => models.find(name), { code: 'invalid_request' }, name)
    }
    assert.throws(() => models.find('openai/gpt-5'), /OPENAI_API_KEY/)
  })

  test('one that can be used is found again as the same', () => {
    const models = openModels({ openai: { baseUrl, apiKey: undefined, timeoutMs: 1 } }, knowledge)
    assert.equal(models.find('openai/a/b'), models.find('openai/a/b'))
    assert.deepEqual(
      models.list().map(({ id, provider }) => [id, provider]),
      [
        ['extractive', 'extractive'],
        ['openai/a/b', 'openai'],
      ],
    )
  })
})
