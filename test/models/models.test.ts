import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { UnusableModel } from '../../src/core/ports/model.ts'
import { type Extract, type Hit, noExtract, type Quote } from '../../src/core/ports/retrieval.ts'
import { extractiveModel } from '../../src/models/extractive.ts'
import { openModels } from '../../src/models/models.ts'
import type { Provider } from '../../src/models/provider.ts'
import { count } from '../../src/models/transport/reply.ts'
import { never, request } from '../contract/model.ts'
import { ModelServer } from '../support/model-server.ts'

const server = new ModelServer()
let host: string
before(async () => {
  host = new URL(await server.listen()).origin
})
after(() => server.close())

const provider = (name: string, protocol: Provider['protocol'], path = ''): Provider => ({
  name,
  protocol,
  baseUrl: `${host}${path}`,
  apiKey: 'sk-test',
  headers: {},
})
const knowledge = { extract: async () => noExtract }
const hit = (text: string): Hit => ({
  documentId: 'd',
  passageId: 'p',
  title: '',
  heading: '',
  text,
  page: null,
  url: null,
  score: 1,
  scores: {},
})

describe('the extractive model', () => {
  const replyOf = async (
    given: Partial<Quote>[],
    confidence: number,
    minScore: number | null = null,
    found: Extract['found'] = 'answer',
  ) => {
    const quotes = given.map((quote): Quote => ({ hit: 0, text: '', from: 'House › Lamps', isAbrupt: false, ...quote }))
    const model = extractiveModel({ extract: async () => ({ quotes, confidence, found }) })
    const hits = quotes.map(({ text }) => hit(`Before. ${text} After.`))
    return model.generate(
      request({ grounding: { ...request().grounding, retrieval: { query: '', standsAlone: true, hits, confidence }, minScore } }),
      { signal: never },
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

  test('says that it does not know where nothing was found, or where the agent asks for more confidence', async () => {
    for (const reply of [
      await replyOf([{ text: 'One.' }], 0.2, null, 'nothing'),
      await replyOf([{ text: 'One.' }], 0.7, 0.8),
      await replyOf([{ text: 'One.' }], 0.2, 0.3, 'closest'),
      await replyOf([], 0.9),
    ]) {
      assert.match(reply.text, /^I don't know/)
      assert.equal(reply.grounding?.answered, false)
      assert.equal(reply.quotes, undefined)
    }
  })

  test('says that the documents do not say it, and what comes closest, where a quote is hardly the answer', async () => {
    const quotes = [{ text: 'One.' }, { text: 'Two.', isAbrupt: true }]
    const reply = await replyOf(quotes, 0.2, null, 'closest')
    const closest = 'The documents do not say this directly. The closest section is “House › Lamps”'
    assert.equal(reply.text, `${closest}:\n\nOne. [1]`)
    assert.deepEqual([...reply.quotes!], [[1, 'One.']])
    assert.equal(reply.grounding?.answered, false)
    const { text, grounding } = await replyOf(quotes.slice(0, 1), 0.2, 0.1, 'closest')
    assert.deepEqual([text, grounding?.answered], ['One. [1]', true])
  })

  test('a number in brackets that stood in the document is not taken for a mark', async () => {
    assert.equal((await replyOf([{ hit: 0, text: 'As shown [3].' }], 0.9)).text, 'As shown \\[3]. [1]')
  })

  test('the mark comes before the code or table that ends a quote, and after it where nothing else is quoted', async () => {
    for (const [quoted, marked] of [
      ['Run it:\n\n```\nx\n\ny\n```', 'Run it [1]:\n\n```\nx\n\ny\n```'],
      ['1. Run it:\n   ```\n   x\n   ```', '1. Run it [1]:\n   ```\n   x\n   ```'],
      ['Prices:\n\n| a | b |\n| - | - |\n| 1 | 2 |', 'Prices [1]:\n\n| a | b |\n| - | - |\n| 1 | 2 |'],
      ['Run it.\n```\nx\n```', 'Run it. [1]\n```\nx\n```'],
      ['```\nx\n```', '```\nx\n```\n\n[1]'],
      ['## Code\n\n```\nx\n```', '## Code\n\n```\nx\n```\n\n[1]'],
      ['```\nx\n```\n\n```\ny\n```', '```\nx\n```\n\n```\ny\n```\n\n[1]'],
      ['| a | b |\n| - | - |', '| a | b |\n| - | - |\n\n[1]'],
      ['```\nx\n```\n\nDone.', '```\nx\n```\n\nDone. [1]'],
    ] as const)
      assert.equal((await replyOf([{ hit: 0, text: quoted }], 0.9)).text, marked)
  })

  test('a quote that does not tell what it is about comes with the name of its section', async () => {
    const replyTo = async (text: string, from: string) => (await replyOf([{ text, from, isAbrupt: true }], 0.9)).text
    assert.equal(await replyTo('It is red.', 'House › Lamps'), 'From “House › Lamps”:\n\nIt is red. [1]')
    assert.equal(await replyTo('```\nx\n```', 'Run $&'), 'From “Run $&” [1]:\n\n```\nx\n```')
  })
})

describe('the names of models', () => {
  test('a name that no turn could use is refused, and says what would do', () => {
    const models = openModels([provider('my-vllm', 'chat')], knowledge, Date.now)
    for (const name of ['gpt-5', 'openai/gpt-5', 'openai/', 'nobody/x', 'extractive/x', 'my-vllm', 'constructor/x', '/x', '']) {
      assert.throws(() => models.find(name), UnusableModel, name)
    }
    const variables = {
      openai: 'OPENAI_API_KEY',
      anthropic: 'ANTHROPIC_API_KEY',
      google: 'GOOGLE_GENERATIVE_AI_API_KEY',
      ollama: 'OLLAMA_HOST',
    }
    for (const [name, variable] of Object.entries(variables)) {
      assert.throws(() => models.find(`${name}/x`), new RegExp(`is ${name}/x, but ${variable} is not set`))
    }
    assert.throws(
      () => models.find('nobody/x'),
      /"extractive", "openai\/NAME", .*or "my-vllm\/NAME"; "nobody\/x" is none of them/,
    )
  })

  test('a name of Google is a part of an address, and leads nowhere else', () => {
    const models = openModels([provider('google', 'google')], knowledge, Date.now)
    for (const name of ['../../evil', 'x/../../evil', 'a?b', 'a#b', 'a%2e%2e', 'a:b', '.', 'a//b', '/a', 'a\\b'])
      assert.throws(() => models.find(`google/${name}`), UnusableModel, name)
    for (const name of ['gemini-3.5-flash', 'tunedModels/mine_1']) models.find(`google/${name}`)
  })

  test('one that can be used is found again as the same, and its name may have slashes', async () => {
    const models = openModels([provider('router', 'chat', '/v1')], knowledge, Date.now)
    assert.equal(models.find('router/meta/llama'), models.find('router/meta/llama'))
    server.reset()
    const { model } = await models.find('router/meta/llama').generate(request(), { signal: never })
    assert.deepEqual([model, server.calls[0]!.body.model], ['meta/llama', 'meta/llama'])
  })

  test('one whose package was left out is refused, and says what to install', () => {
    const hooks = registerHooks({
      resolve(specifier, context, next) {
        if (specifier.startsWith('@ai-sdk/')) throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' })
        return next(specifier, context)
      },
    })
    try {
      const models = openModels([provider('anthropic', 'anthropic')], knowledge, Date.now)
      assert.throws(
        () => models.find('anthropic/claude'),
        / is anthropic\/claude, but the package @ai-sdk\/anthropic is not installed: npm install @ai-sdk\/anthropic\.$/,
      )
    } finally {
      hooks.deregister()
    }
  })
})

describe('the list of models', () => {
  const data = (...ids: string[]) => ({ data: ids.map((id) => ({ id })) })
  const models = (...names: string[]) => ({ models: names.map((name) => ({ name })) })

  test('holds what each provider says that it has, and what agents have named', async () => {
    server.lists = {
      '/a/models': data('gpt-5', 'text-embedding-3-small'),
      '/b/v1/models': data('claude'),
      '/c/models': models('models/gemini', 'models/gemini-embedding-001'),
      '/d/api/tags': models('llama:8b', 'qwen3:latest'),
    }
    const providers = [
      provider('openai', 'responses', '/a'),
      provider('anthropic', 'anthropic', '/b'),
      provider('google', 'google', '/c'),
      provider('ollama', 'ollama', '/d/'),
      provider('down', 'chat', '/nowhere'),
    ]
    const opened = openModels(providers, knowledge, Date.now)
    opened.find('ollama/named')
    opened.find('openai/gpt-5')
    assert.deepEqual(
      (await opened.list()).map(({ id, provider, kind }) => `${id} ${provider} ${kind}`),
      [
        'extractive extractive chat',
        'openai/gpt-5 openai chat',
        'openai/text-embedding-3-small openai embedding',
        'anthropic/claude anthropic chat',
        'google/gemini google chat',
        'google/gemini-embedding-001 google embedding',
        'ollama/llama:8b ollama chat',
        'ollama/qwen3 ollama chat',
        'ollama/named ollama chat',
      ],
    )
  })

  test('is asked for once a minute, and what an agent names meanwhile stands in it at once', async () => {
    let now = 0
    server.lists = { '/v1/models': data('one') }
    const opened = openModels([provider('x', 'chat', '/v1')], knowledge, () => now)
    const ids = async () => (await opened.list()).map(({ id }) => id)
    assert.deepEqual(await ids(), ['extractive', 'x/one'])
    server.lists = { '/v1/models': data('two') }
    opened.find('x/three')
    now = 59_999
    assert.deepEqual(await ids(), ['extractive', 'x/one', 'x/three'])
    now = 60_000
    assert.deepEqual(await ids(), ['extractive', 'x/two', 'x/three'])
  })
})

test('counts of tokens that nobody can have used are cut', () => {
  for (const [sent, counted] of [
    [21, 21],
    [1.9, 1],
    [-5, 0],
    ['7', 0],
    [Number.NaN, 0],
    [2 ** 53 + 2, 1e9],
    [1e308, 1e9],
  ])
    assert.equal(count(sent), counted)
})
