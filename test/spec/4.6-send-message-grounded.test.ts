// Specification 4.6, rule 2: "The AI reply is generated after retrieving relevant content from the agent's knowledge base"
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hasFields, isOk, UUID } from '../support/assert.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())

const MANUAL = `# The Aurora kettle

The Aurora kettle holds 1.7 litres of water and switches itself off when the water boils.

## Warranty

The warranty of the Aurora kettle lasts two years from the day of purchase.

## Cleaning

To remove scale, boil the kettle with a spoon of citric acid and rinse it twice.
`
const RETURNS = `# Returns

Goods can be returned within thirty days. The refund arrives within five working days.
`

/** An agent that knows these documents. */
async function taught(settings: object, ...documents: string[]): Promise<string> {
  const id = await service.newAgent(settings)
  for (const markdown of documents) isOk(await client.post(`/agents/${id}/documents`, { markdown }), 202)
  await until('the documents are ready', async () => {
    const { pagination } = (await client.get(`/agents/${id}/documents?status=ready`)).body
    return pagination.total === documents.length
  })
  return id
}
const ask = async (agentId: string, message: string, more: object = {}) => {
  const answer = await client.post(`${await service.newSession(agentId)}/messages`, {
    message,
    include: ['sources', 'trace'],
    ...more,
  })
  isOk(answer)
  return answer.body
}

describe('4.6 a language model is given what was retrieved', { skip: needsProcess }, () => {
  let agentId: string
  before(async () => {
    agentId = await taught({}, MANUAL, RETURNS)
  })

  test('the prompt holds the passages, and the question', async () => {
    model.reset()
    await ask(agentId, 'How long does the warranty last?')
    const prompt = model.lastPrompt.map(({ content }) => content).join('\n')
    assert.ok(prompt.includes('lasts two years from the day of purchase'))
    assert.ok(model.lastPrompt.at(-1)!.content.includes('How long does the warranty last?'))
  })

  test('sources: only those cited, renumbered from 1 as the [n] marks in the reply', async () => {
    model.behaviour = says(
      'Goods are returned within 30 days [1][2]. The kettle has a warranty of two years [1][2]. Returned within 30 days [2, 1]. Nothing [99].',
    )
    const { aiMessage, sources } = await ask(agentId, 'warranty of the kettle, and returned goods')
    const said =
      'Goods are returned within 30 days [1]. The kettle has a warranty of two years [2]. Returned within 30 days [1]. Nothing.'
    assert.equal(aiMessage.content, said)
    assert.deepEqual(
      sources.map(({ index }: { index: number }) => index),
      [1, 2],
    )
    for (const source of sources) {
      hasFields(source, 'index', 'documentId', 'title', 'url', 'snippet', 'score')
      const { passages } = (await client.get(`/agents/${agentId}/documents/${source.documentId}/passages`)).body
      assert.ok(
        passages.some(({ text }: { text: string }) => text.includes(source.snippet)),
        'the snippet is verbatim',
      )
    }
    model.behaviour = says('No marks at all.')
    assert.deepEqual((await ask(agentId, 'How long does the warranty last?')).sources, [])
  })

  test('trace: grounding, the query as searched, the passages with their scores per method, the timing of each step', async () => {
    model.reset()
    const { trace } = await ask(agentId, 'How long does the warranty last?')
    hasFields(trace, 'grounding', 'query', 'passages', 'citations', 'attempts', 'finish', 'timings')
    hasFields(trace.grounding, 'answered', 'confidence')
    assert.ok(trace.grounding.confidence >= 0 && trace.grounding.confidence <= 1)
    assert.ok(trace.passages.length > 0)
    for (const passage of trace.passages) {
      assert.match(passage.passageId, UUID)
      assert.ok(Object.values(passage.scores).every((score) => typeof score === 'number'))
    }
    for (const { step, ms } of trace.timings) assert.ok(typeof step === 'string' && ms >= 0)
  })
})

describe('4.6 the embedded model: extractive', () => {
  let agentId: string
  before(async () => {
    agentId = await taught({ model: 'extractive', followUps: { enabled: true } }, MANUAL, RETURNS)
  })

  test('it answers with sentences of the knowledge base, and [n] marks that name their sources', async () => {
    const { aiMessage, sources, trace } = await ask(agentId, 'How long does the warranty of the Aurora kettle last?')
    assert.equal(aiMessage.model, 'extractive')
    assert.match(aiMessage.content, /lasts two years from the day of purchase\. ?\[1\]/)
    assert.equal(sources[0].index, 1)
    assert.equal(sources[0].title, 'The Aurora kettle')
    assert.ok(MANUAL.includes(sources[0].snippet))
    assert.equal(trace.grounding.answered, true)
  })

  test('it says plainly that it does not know when the base does not hold the answer', async () => {
    const { aiMessage, sources, trace, followUps } = await ask(agentId, 'Who won the football world cup in 1954?')
    assert.match(aiMessage.content, /don.t know/i)
    assert.deepEqual(sources, [])
    assert.equal(trace.grounding.answered, false)
    assert.ok(Array.isArray(followUps))
  })

  test('it says so in the language of the question, where the base is written in it', async () => {
    const german = await taught(
      { model: 'extractive' },
      '# Der Kessel\n\nDer Kessel fasst 1,7 Liter Wasser und schaltet sich von selbst aus.',
    )
    const { aiMessage } = await ask(german, 'Wer hat die Fußballweltmeisterschaft gewonnen und wann war das?')
    assert.match(aiMessage.content, /^Das weiß ich nicht/)
  })

  test('a greeting is answered without a search, and is no question that the base could not answer', async () => {
    const { aiMessage, sources, trace } = await ask(agentId, 'Hello!')
    assert.match(aiMessage.content, /^Hello!/)
    assert.deepEqual([sources, trace.passages, trace.grounding.answered], [[], [], true])
  })

  test('an agent that knows nothing says so too', async () => {
    const { aiMessage, trace } = await ask(await service.newAgent({ model: 'extractive' }), 'How long is the warranty?')
    assert.match(aiMessage.content, /don.t know/i)
    assert.equal(trace.grounding.answered, false)
  })

  test('a question is understood in its conversation', async () => {
    const session = await service.newSession(agentId)
    const send = async (message: string) => (await client.post(`${session}/messages`, { message })).body.aiMessage.content
    await send('Tell me about the warranty of the Aurora kettle')
    assert.match(await send('How long does it last?'), /two years/)
  })

  test('what was said before answers no other question', async () => {
    const session = await service.newSession(agentId)
    const send = async (message: string) =>
      (await client.post(`${session}/messages`, { message, include: ['trace'] })).body as {
        aiMessage: { content: string }
        trace: { query: string; grounding: { answered: boolean } }
      }
    assert.match((await send('How long does the warranty of the Aurora kettle last?')).aiMessage.content, /two years/)
    for (const message of ['Is there a gym?', 'Who is the president of France?', 'xyzzy', '?', 'Where is the nearest airport?']) {
      const { aiMessage, trace } = await send(message)
      assert.match(aiMessage.content, /don.t know/i, message)
      assert.equal(trace.grounding.answered, false)
    }
    // The marks of citations are not searched.
    const { aiMessage, trace } = await send('And the refund?')
    assert.match(aiMessage.content, /five working days/)
    assert.doesNotMatch(trace.query, /(^| )1( |$)/)
  })

  test('a number or code that no document holds is not answered with another one', async () => {
    const codes = await taught({ model: 'extractive' }, 'The manager of City17 is Ann.\n\nThe manager of City18 is Bob.')
    assert.match((await ask(codes, 'Who is the manager of City18?')).aiMessage.content, /Bob/)
    const { aiMessage, trace } = await ask(codes, 'Who is the manager of City200?')
    assert.match(aiMessage.content, /don.t know/i)
    assert.equal(trace.grounding.answered, false)
  })

  test('two letters of a short word in the wrong order do not matter', async () => {
    const shop = await taught({ model: 'extractive' }, 'The shop is open from nine to five.', 'The pool is closed on Monday.')
    assert.match((await ask(shop, 'When is the shop opne?')).aiMessage.content, /nine to five/)
  })

  test('html: the same reply, rendered', async () => {
    const { aiMessage } = await ask(agentId, 'How do I remove scale from the kettle?', { format: 'html' })
    assert.match(aiMessage.content, /^<p>[\s\S]*citric acid[\s\S]*\[1\]<\/p>\s*$/)
  })

  test('followUps: [{ id, text, confidence }]: questions that the base answers, as many as the agent offers at most, none just asked', async () => {
    const questions = [
      'How do I clean the kettle?',
      'How long does the kettle take to boil?',
      'Where is the kettle made?',
      'What does the kettle weigh?',
    ]
    const answers = [
      'Boil the kettle with citric acid.',
      'The kettle boils in three minutes.',
      'The kettle is made in Turin.',
      'The kettle weighs 900 grams.',
    ]
    const faq = questions.map((question, i) => `## ${question}\n\n${answers[i]}`).join('\n\n')
    const id = await taught({ model: 'extractive', followUps: { enabled: true, count: 2 } }, `# Kettle FAQ\n\n${faq}`)
    const { followUps } = await ask(id, questions[0]!)
    assert.ok(followUps.length >= 1 && followUps.length <= 2, `${followUps.length} of 2`)
    for (const followUp of followUps) {
      hasFields(followUp, 'id', 'text', 'confidence')
      assert.ok(typeof followUp.id === 'string' && followUp.id !== '')
      assert.ok(followUp.text !== '' && followUp.text !== questions[0])
      assert.ok(followUp.confidence >= 0 && followUp.confidence <= 1)
      assert.equal((await ask(id, followUp.text)).trace.grounding.answered, true, `"${followUp.text}" is answered`)
    }
    assert.equal(new Set(followUps.map(({ id }: { id: string }) => id)).size, followUps.length)
  })

  test('followUps: of the ideas of a model, no more are looked at than it was asked for', async () => {
    const id = await taught({ followUps: { enabled: true, count: 1 } }, MANUAL)
    const reply = 'To remove scale, boil the kettle with a spoon of citric acid [1].'
    const questions = ['Who sings?', 'Where is Rome?', 'How long does the warranty of the Aurora kettle last?']
    model.behaviour = (call, response) => {
      const isForIdeas = /Suggest questions/.test(call.body.messages[0]!.content)
      const ideas = { questions: questions.map((text) => ({ text, confidence: 0.9 })) }
      return says(isForIdeas ? JSON.stringify(ideas) : reply)(call, response)
    }
    const offered = async () => (await ask(id, 'How do I clean the kettle?')).followUps.map(({ text }: { text: string }) => text)
    assert.deepEqual(await offered(), [])
    isOk(await client.patch(`/agents/${id}`, { followUps: { count: 2 } }))
    assert.deepEqual(await offered(), [questions[2]])
  })

  test('followUps: ideas of a model that are far too long are not read', async () => {
    const id = await taught({ followUps: { enabled: true, count: 1 } }, MANUAL)
    const idea = { text: 'How long does the warranty of the Aurora kettle last?', confidence: 0.9 }
    let filler = 'x'
    model.behaviour = (call, response) => {
      const isForIdeas = /Suggest questions/.test(call.body.messages[0]!.content)
      return says(isForIdeas ? JSON.stringify({ filler, questions: [idea] }) : 'Boil it with citric acid [1].')(call, response)
    }
    const offered = async () => (await ask(id, 'How do I clean the kettle?')).followUps.map(({ text }: { text: string }) => text)
    assert.deepEqual(await offered(), [idea.text])
    filler = 'x'.repeat(20_000)
    assert.ok(!(await offered()).includes(idea.text))
  })

  test('minScore: the least grounding confidence at which it answers', async () => {
    const question = 'How long does the warranty of the Aurora kettle last?'
    const { trace } = await ask(agentId, question)
    isOk(await client.patch(`/agents/${agentId}`, { retrieval: { minScore: 1 } }))
    const strict = await ask(agentId, question)
    assert.equal(strict.trace.grounding.answered, false)
    assert.match(strict.aiMessage.content, /don.t know/i)
    isOk(await client.patch(`/agents/${agentId}`, { retrieval: { minScore: Math.max(0, trace.grounding.confidence - 0.01) } }))
    assert.equal((await ask(agentId, question)).trace.grounding.answered, true)
    isOk(await client.patch(`/agents/${agentId}`, { retrieval: { minScore: null } }))
  })

  test('what was removed answers no more', async () => {
    const id = await taught({ model: 'extractive' }, MANUAL)
    const [document] = (await client.get(`/agents/${id}/documents`)).body.documents
    isOk(await client.delete(`/agents/${id}/documents/${document.id}`))
    assert.match((await ask(id, 'How long does the warranty last?')).aiMessage.content, /don.t know/i)
  })

  test('retrieval.filter of an agent narrows what it answers from', async () => {
    const id = await taught({ model: 'extractive', retrieval: { filter: { lang: 'en' } } }, MANUAL)
    assert.equal((await ask(id, 'How long does the warranty of the Aurora kettle last?')).trace.grounding.answered, false)
  })
})
