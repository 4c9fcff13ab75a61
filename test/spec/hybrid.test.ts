// Search by meaning: `retrieval.mode: "hybrid"` of an agent, over embedding models of a local server.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { EmbeddingServer } from '../support/embedding-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const embeddings = await new EmbeddingServer().start()
const providers = {
  first: { protocol: 'chat', baseUrl: `${embeddings.url}/v1` },
  second: { protocol: 'ollama', baseUrl: embeddings.url },
  third: { protocol: 'google', baseUrl: `${embeddings.url}/v1beta`, apiKey: 'key' },
  fourth: { protocol: 'anthropic', baseUrl: embeddings.url, apiKey: 'key' },
}
const service = await startService({ REPARTEE_PROVIDERS: JSON.stringify(providers) })
const { client } = service
after(async () => {
  await service.stop()
  await embeddings.stop()
})

const FACTS = [
  'You can reimburse a ticket within ten days.',
  'Every vehicle must be parked in the yard.',
  'The surgeon sees patients on Monday.',
  'A toddler rides for free.',
]
let agent: string
beforeEach(() => {
  embeddings.asked.length = 0
  embeddings.dimensions = 64
  embeddings.next = []
  embeddings.isDown = false
  embeddings.refusesBase64 = false
  embeddings.held = undefined
  embeddings.longest = Number.POSITIVE_INFINITY
  embeddings.unspeakable = undefined
})

async function newAgent(embeddingModel: string, texts: string[] = FACTS): Promise<void> {
  agent = `/agents/${await service.newAgent({ model: 'extractive', embeddingModel, retrieval: { mode: 'hybrid' } })}`
  for (const text of texts) await add({ text })
}
async function add(body: object): Promise<string> {
  const answer = await client.post(`${agent}/documents`, body)
  isOk(answer, 202)
  return answer.body.document.id
}
const ready = () =>
  until('all documents are ready', async () => {
    const all = (await client.get(`${agent}/documents`)).body.pagination.total
    return (await client.get(`${agent}/documents?status=ready`)).body.pagination.total === all
  })
const search = async (query: string, more: object = {}) => {
  const answer = await client.post(`${agent}/search`, { query, ...more })
  isOk(answer)
  return (answer.body.hits as { text: string }[]).map(({ text }) => text)
}
/** A question that shares no word with its answer. */
const QUESTION = 'repayment automobile'
const MEANT = ['repayment', 'automobile', 'physician', 'child']
/** Waits until each of these facts has its vector: none shares a word with what it is asked by. */
const isByMeaning = (facts: string[] = FACTS) =>
  until('the base is searched by meaning', async () => {
    for (const fact of facts) if (!(await search(MEANT[FACTS.indexOf(fact)]!)).includes(fact)) return false
    return true
  })
async function ask(message: string) {
  const session = (await client.post(`${agent}/sessions`, {})).body.session.id
  const answer = await client.post(`${agent}/sessions/${session}/messages`, { message, include: ['trace'] })
  isOk(answer)
  return answer.body
}

describe('search by meaning', { skip: needsProcess }, () => {
  for (const model of ['first/small', 'second/small', 'third/small'])
    test(`finds what the question has no word of, with a model of ${model.split('/')[0]}`, async () => {
      await newAgent(model)
      await isByMeaning()
      assert.deepEqual((await search(QUESTION)).slice(0, 2).sort(), [FACTS[1], FACTS[0]])
      assert.equal((await search('physician'))[0], FACTS[2])
      const { trace } = await ask('When can I see the physician?')
      assert.deepEqual(trace.retrieval, { mode: 'hybrid' })
      assert.ok(trace.passages[0].scores.cosine > 0.5)
    })

  test('passages and questions are told apart to models that want to know', async () => {
    await newAgent('third/small')
    await isByMeaning()
    await search('a question of its own')
    const purposes = new Map(embeddings.asked.map(({ text, purpose }) => [text, purpose]))
    assert.equal(purposes.get(FACTS[0]!), 'RETRIEVAL_DOCUMENT')
    assert.equal(purposes.get('a question of its own'), 'RETRIEVAL_QUERY')
  })

  test('words count as they did: what has the words of the question is found with it', async () => {
    await newAgent('first/small')
    await isByMeaning()
    assert.equal((await search('patients on Monday'))[0], FACTS[2])
  })

  test('a server that does not know base64 is asked for numbers', async () => {
    embeddings.refusesBase64 = true
    await newAgent('first/numbers')
    await isByMeaning()
  })

  test('a question whose vector cannot be had is searched by words, and the trace says so', async (t) => {
    await newAgent('first/small')
    await isByMeaning()
    embeddings.isDown = true
    const { trace, aiMessage } = await ask('When does the surgeon see patients?')
    assert.deepEqual(trace.retrieval, { mode: 'lexical', reason: 'the embedding model failed' })
    assert.match(aiMessage.content, /Monday/)
    embeddings.isDown = false
    embeddings.held = { model: 'small', until: new Promise(() => {}) }
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_EMBEDDING_TIMEOUT_MS: '500' })
    t.after(async () => {
      await service.end('SIGTERM')
      await service.restart({ REPARTEE_EMBEDDING_TIMEOUT_MS: '300000' })
    })
    assert.equal((await ask('Where must every vehicle be parked now?')).trace.retrieval.mode, 'lexical')
  })

  test('without an embedding model the trace says so', async () => {
    agent = `/agents/${await service.newAgent({ model: 'extractive', retrieval: { mode: 'hybrid' } })}`
    await add({ text: FACTS[2] })
    await ready()
    const { trace } = await ask('When does the surgeon see patients?')
    assert.deepEqual(trace.retrieval, { mode: 'lexical', reason: 'no embedding model is set' })
  })

  test('documents are ready, and found by words, before they have vectors; those are made when the provider is back', async () => {
    embeddings.isDown = true
    await newAgent('first/small')
    await ready()
    assert.equal((await search('surgeon'))[0], FACTS[2])
    const { trace } = await ask('When does the surgeon see patients?')
    assert.equal(trace.retrieval.mode, 'lexical')
    embeddings.isDown = false
    await isByMeaning()
  })

  test('a text that the model refuses is embedded as far as it is taken, and keeps no other from its vector', async () => {
    embeddings.longest = 300
    embeddings.unspeakable = 'brimstone'
    const long = `The physician is in. ${'Nothing else is told of this house and its rooms. '.repeat(10)}`
    await newAgent('first/e', [...FACTS, 'A pot of brimstone is for every kid.', long.trim()])
    await ready()
    await isByMeaning()
    // Its words alone find it, too: "doctor" is a synonym.
    const isBeginning = (text: string) => text.startsWith('The physician is in.') && text.length < embeddings.longest
    await until('its beginning is embedded', async () => embeddings.asked.some(({ text }) => isBeginning(text)))
    await until('the long one has its vector', async () => (await search('doctor')).includes(long.trim()))
    const found = await search('doctor')
    assert.deepEqual(new Set(found.slice(0, 2)), new Set([FACTS[2], long.trim()]))
    // It has no vector, and is found by its words.
    assert.ok((await search('child')).includes(FACTS[3]!))
    assert.equal((await search('brimstone'))[0], 'A pot of brimstone is for every kid.')
    const { length } = embeddings.asked
    await add({ text: 'The blacksmith works on Tuesday.' })
    await until('the new one is embedded', async () => embeddings.asked.some(({ text }) => text.includes('blacksmith')))
    const others = embeddings.asked.slice(length).filter(({ text }) => !text.includes('blacksmith'))
    assert.deepEqual(others, [])
  })

  test('another model takes over when its vectors are whole; until then the one before is searched', async () => {
    await newAgent('first/old')
    await isByMeaning()
    const { promise, resolve } = Promise.withResolvers<void>()
    embeddings.held = { model: 'new', until: promise }
    isOk(await client.patch(agent, { embeddingModel: 'second/new' }))
    embeddings.asked.length = 0
    assert.equal((await search('automobile please'))[0], FACTS[1])
    assert.deepEqual(
      embeddings.asked.map(({ model }) => model),
      ['old'],
    )
    embeddings.held = undefined
    embeddings.dimensions = 96
    resolve()
    await until('the new model is asked', async () => {
      await search(`physician ${embeddings.asked.length}`)
      return embeddings.asked.some(({ model, text }) => model === 'new' && text.startsWith('physician'))
    })
    assert.equal((await search('physician again'))[0], FACTS[2])
  })

  test('what is deleted or replaced is not found by its meaning, and what a new version kept is not embedded again', async () => {
    const section = (title: string, text: string) => `# ${title}\n\n${text}\n\n${'Filler words go here. '.repeat(60)}\n\n`
    await newAgent('first/small', [])
    const markdown = section('One', FACTS[0]!) + section('Two', FACTS[1]!)
    const id = await add({ title: 'Both', markdown })
    await until('both are embedded', async () => embeddings.count() >= 2)
    await until('it is found by meaning', async () => (await search('repayment'))[0]?.includes('reimburse'))
    embeddings.asked.length = 0
    isOk(
      await client.put(`${agent}/documents/${id}`, {
        title: 'Both',
        markdown: section('One', FACTS[0]!) + section('Two', FACTS[2]!),
      }),
      202,
    )
    await until('the new one is found by meaning', async () => (await search('physician'))[0]?.includes('surgeon'))
    assert.equal(embeddings.asked.filter(({ text }) => text.includes('reimburse')).length, 0)
    assert.ok((await search('repayment'))[0]?.includes('reimburse'))
    assert.ok(!(await search('automobile')).some((text) => text.includes('vehicle')))
    isOk(await client.delete(`${agent}/documents/${id}`))
    assert.deepEqual(await search('repayment'), [])
  })

  test('answers of different lengths within a batch are not stored, and their texts are sent again', async () => {
    await newAgent('first/small')
    await isByMeaning()
    const count = (word: string) => embeddings.asked.filter(({ text }) => text.includes(word)).length
    // So many passages are sent in three calls: the first alone, then the others together.
    embeddings.next = [64, 64, 2_000]
    await add({
      text: Array.from({ length: 140 }, (_, i) => `# Title ${i}\n\nParagraph${i}. ${`word${i} `.repeat(120)}`).join('\n\n'),
    })
    await until(
      'those of the last calls are sent again',
      async () => count('Paragraph100.') === 2 && count('Paragraph139.') === 2,
    )
    await isByMeaning()
  })

  test('a filter hides what it hides from meaning, too', async () => {
    await newAgent('first/small', [])
    await add({ text: FACTS[0], metadata: { lang: 'en' } })
    await add({ text: 'Any repayment needs the paper ticket.', metadata: { lang: 'fr' } })
    await until('both are found', async () => (await search('money')).length === 2)
    assert.deepEqual(await search('money', { filter: { lang: 'en' } }), [FACTS[0]])
  })

  test('vectors outlive a restart', async () => {
    await newAgent('first/small')
    await isByMeaning()
    await service.kill()
    await service.restart()
    embeddings.asked.length = 0
    assert.equal((await search('repayment'))[0], FACTS[0])
    assert.deepEqual(
      embeddings.asked.map(({ text }) => text),
      ['repayment'],
    )
  })

  test('among thousands of passages, too, where signs are compared first; and after many of them are deleted', async () => {
    const words = 'lamp river stone window garden market paper cloud engine bridge summer copper silver planet harbour'.split(' ')
    const section = (i: number) =>
      `## Part ${i}\n\n${Array.from({ length: 90 }, (_, j) => words[(i * 7 + j * j) % words.length]).join(' ')}`
    const book = (from: number) => Array.from({ length: 600 }, (_, i) => section(from + i)).join('\n\n')
    await newAgent('first/small', [])
    const id = await add({ title: 'First', markdown: book(0) })
    await add({ title: 'Second', markdown: book(600) })
    await add({ text: FACTS[0] })
    await ready()
    await until('all are embedded', async () => embeddings.count() >= 1_201)
    await isByMeaning([FACTS[0]!])
    isOk(await client.delete(`${agent}/documents/${id}`))
    assert.equal((await search('money'))[0], FACTS[0])
    await add({ text: FACTS[2] })
    await until('the last one is found by meaning', async () => (await search('physician'))[0] === FACTS[2])
  })

  for (const [embeddingModel, reason] of [
    ['nobody/small', /is none of them/],
    ['fourth/small', /no models that embed/],
    ['openai', /is none of them/],
    ['local/tiny', /REPARTEE_MODEL_FOLDER is not set/],
  ] as const)
    test(`400 for the embedding model ${embeddingModel}`, async () => {
      const answer = await client.post('/agents', { name: 'x', embeddingModel })
      isError(answer, 400, 'invalid_request', 'body.embeddingModel')
      assert.match(answer.body.error.details[0].message, reason)
    })
})
