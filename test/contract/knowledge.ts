import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { Document, NewDocument } from '../../src/core/document.ts'
import type { HistoryEntry } from '../../src/core/message.ts'
import { isUuid } from '../../src/core/platform/ids.ts'
import type { Knowledge } from '../../src/core/ports/knowledge.ts'
import type { Hit } from '../../src/core/ports/retrieval.ts'
import { GIVE_UP_AFTER_MS } from '../support/poll.ts'

/** A text document as a caller sends it. */
export function textOf(text: string, more: Partial<NewDocument> = {}): NewDocument {
  return { source: { type: 'text' }, mediaType: 'text/plain', content: Buffer.from(text), metadata: {}, ...more }
}

/** Waits, without sleeping longer than needed, until `check` holds. */
export async function until(check: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + GIVE_UP_AFTER_MS
  while (!(await check())) {
    assert.ok(performance.now() < end, 'not within the time')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export async function settled(knowledge: Knowledge, agentId: string): Promise<void> {
  for (const status of ['queued', 'processing'] as const) {
    await until(async () => (await knowledge.listDocuments(agentId, { limit: 1, status }))?.total === 0)
  }
}

export const find = async (knowledge: Knowledge, agentId: string, query: string, history: HistoryEntry[] = []): Promise<Hit[]> =>
  (await knowledge.retrieve(agentId, { query, history, topK: 5, filter: null })).hits

/** What every implementation of the knowledge port promises. `open` gives an empty one; the suite closes it. `newAgent` resolves to the id of an agent. */
export function knowledgeContract(
  name: string,
  open: () => Promise<Knowledge>,
  newAgent: () => Promise<string> = async () => randomUUID(),
): void {
  describe(`knowledge: ${name}`, () => {
    let knowledge: Knowledge
    let agent: string

    before(async () => {
      knowledge = await open()
    })
    beforeEach(async () => {
      agent = await newAgent()
    })
    after(() => knowledge.close())

    const add = async (text: string, more: Partial<NewDocument> = {}): Promise<Document> => {
      const document = await knowledge.addDocument(agent, textOf(text, more))
      await settled(knowledge, agent)
      return (await knowledge.findDocument(agent, document.id))!
    }
    const titles = async (query: string): Promise<string[]> => (await find(knowledge, agent, query)).map((hit) => hit.title)

    test('an agent without documents finds nothing, and is sure of nothing', async () => {
      assert.deepEqual(await knowledge.retrieve(agent, { query: 'anything', history: [], topK: 3, filter: null }), {
        query: '',
        standsAlone: true,
        hits: [],
        confidence: 0,
        emptyBase: true,
      })
      assert.deepEqual(await knowledge.count(agent), { documents: 0, passages: 0 })
      assert.deepEqual(await knowledge.listDocuments(agent, { limit: 5 }), { items: [], hasMore: false, total: 0 })
      assert.equal(await knowledge.listDocuments(agent, { limit: 5, cursor: randomUUID() }), undefined)
      assert.equal(await knowledge.findDocument(agent, randomUUID()), undefined)
      assert.equal(await knowledge.deleteDocument(agent, randomUUID()), false)
    })

    test('U+0000 and halves of characters in a document become U+FFFD', async () => {
      const written = String.raw`{"title":"Lost\u0000letters","bird":"the her\u0000on","half":"\ud83d."}`
      const { status, title } = await add(written, { mediaType: 'application/json' })
      assert.deepEqual({ status, title }, { status: 'ready', title: 'Lost\ufffdletters' })
      const [hit] = await find(knowledge, agent, 'What is lost?')
      assert.equal(hit?.text, 'title: Lost\ufffdletters\nbird: the her\ufffdon\nhalf: \ufffd.')
    })

    test('a document is queued when it is accepted, and ready with its passages later', async () => {
      const accepted = await knowledge.addDocument(
        agent,
        textOf('The heron waits in the reeds.', { title: 'Birds', metadata: { shelf: 4 } }),
      )
      assert.equal(accepted.status, 'queued')
      assert.ok(isUuid(accepted.id))
      await settled(knowledge, agent)
      const ready = (await knowledge.findDocument(agent, accepted.id))!
      assert.equal(ready.status, 'ready')
      assert.equal(ready.progress, 1)
      assert.equal(ready.passageCount, 1)
      assert.equal(ready.bytes, 29)
      assert.deepEqual(ready.metadata, { shelf: 4 })
      const [hit] = await find(knowledge, agent, 'where does the heron wait?')
      assert.equal(hit?.documentId, accepted.id)
      assert.equal(hit?.text, 'The heron waits in the reeds.')
      assert.equal(hit?.url, null)
    })

    test('the same title and bytes are the same document', async () => {
      const first = await add('One text.', { title: 'A' })
      assert.equal((await knowledge.addDocument(agent, textOf('One text.', { title: 'A' }))).id, first.id)
      assert.notEqual((await knowledge.addDocument(agent, textOf('One text.', { title: 'B' }))).id, first.id)
    })

    test('without a title a document takes its heading, else its file name, else its first words', async () => {
      assert.equal((await add('# Otters\n\nThey swim.', { mediaType: 'text/markdown' })).title, 'Otters')
      assert.equal((await add('They run.', { source: { type: 'file', filename: 'stoats.txt' } })).title, 'stoats.txt')
      assert.equal((await add('They climb trees.')).title, 'They climb trees.')
    })

    test('first words that serve as a title do not count as one in the search', async () => {
      await add('Herons are one of the many birds of this lake, which lies between the hills, with reeds on its southern shore.')
      const about = await add(
        'It waits at the edge of the water, hour after hour, day after day, and does not move: the heron. Nothing fishes like a heron.',
      )
      assert.equal((await find(knowledge, agent, 'heron'))[0]!.documentId, about.id)
    })

    test('what cannot be read fails with a reason, and others go on', async () => {
      const bad = await knowledge.addDocument(agent, textOf('x', { mediaType: 'application/x-unknown' }))
      const good = await add('The weasel hides.')
      const failed = (await knowledge.findDocument(agent, bad.id))!
      assert.equal(failed.status, 'failed')
      assert.equal(failed.error?.code, 'unsupported_type')
      assert.equal(good.status, 'ready')
    })

    test('a failed document that is sent again is tried again', async () => {
      const bad = textOf('x', { mediaType: 'application/x-unknown' })
      const first = await knowledge.addDocument(agent, bad)
      await settled(knowledge, agent)
      const again = await knowledge.addDocument(agent, bad)
      assert.equal(again.id, first.id)
      assert.equal(again.status, 'queued')
    })

    test('a deleted document is not found any more, at once', async () => {
      const document = await add('The marten sleeps at noon.')
      assert.equal(await knowledge.deleteDocument(agent, document.id), true)
      assert.deepEqual(await find(knowledge, agent, 'marten'), [])
      assert.equal(await knowledge.findDocument(agent, document.id), undefined)
      assert.equal(await knowledge.deleteDocument(agent, document.id), false)
      assert.deepEqual(await knowledge.count(agent), { documents: 0, passages: 0 })
    })

    test('a replaced document answers with the old text until the new is there, and never with both or none', async () => {
      const document = await add('The code of the gate is amber.', { title: 'Gate' })
      const replacing = knowledge.replaceDocument(
        agent,
        document.id,
        textOf('The code of the gate is violet.', { title: 'Gate' }),
      )
      const seen = new Set<string>()
      for (let done = false; !done; ) {
        done =
          (await knowledge.findDocument(agent, document.id))?.status === 'ready' && seen.has('The code of the gate is violet.')
        const hits = await find(knowledge, agent, 'code of the gate')
        assert.equal(hits.length, 1)
        seen.add(hits[0]!.text)
      }
      assert.equal((await replacing)?.id, document.id)
      assert.deepEqual([...seen].at(-1), 'The code of the gate is violet.')
      assert.equal(await knowledge.replaceDocument(agent, randomUUID(), textOf('x')), undefined)
    })

    test('a new title is shown at once and found soon; a new text of metadata is filtered by', async () => {
      const document = await add('It has four wheels.', { title: 'Cart', metadata: { lang: 'en' } })
      const passageId = (await knowledge.listPassages(agent, document.id, { limit: 1 }))?.items[0]?.id
      const changed = await knowledge.updateDocument(agent, document.id, { title: 'Wagon', metadata: { lang: 'de' } })
      assert.equal(changed?.title, 'Wagon')
      assert.deepEqual(changed?.metadata, { lang: 'de' })
      await until(async () => (await titles('wagon')).length === 1)
      await until(async () => (await find(knowledge, agent, 'cart')).length === 0)
      const { hits } = await knowledge.retrieve(agent, { query: 'wheels', history: [], topK: 5, filter: { lang: 'de' } })
      assert.equal(hits.length, 1)
      assert.equal(hits[0]?.passageId, passageId)
      assert.equal(await knowledge.updateDocument(agent, randomUUID(), { title: 'x' }), undefined)
    })

    test('a document with a new title has its first one again when it is sent with that', async () => {
      const wheels = textOf('It has four wheels.', { title: 'Cart' })
      const { id } = await add('It has four wheels.', { title: 'Cart' })
      await knowledge.updateDocument(agent, id, { title: 'Wagon' })
      await until(async () => (await titles('wagon')).length === 1)
      assert.equal((await knowledge.replaceDocument(agent, id, wheels))?.title, 'Cart')
      await until(async () => (await titles('cart')).length === 1)
      assert.equal((await titles('wagon')).length, 0)
    })

    test('a document whose new version failed stays failed under a new title, and that version is tried again when it is sent again', async () => {
      const document = await add('It has four wheels.', { title: 'Cart' })
      const bad = textOf('x', { title: 'Wagon', mediaType: 'application/x-unknown' })
      await knowledge.replaceDocument(agent, document.id, bad)
      await settled(knowledge, agent)
      await knowledge.updateDocument(agent, document.id, { title: 'Carriage' })
      await until(async () => (await titles('carriage')).length === 1)
      const retitled = (await knowledge.findDocument(agent, document.id))!
      assert.equal(retitled.status, 'failed')
      assert.equal(retitled.error?.code, 'unsupported_type')
      assert.equal((await knowledge.addDocument(agent, bad)).status, 'queued')
    })

    test('a filter lets through documents whose metadata equal the value, or one of the values', async () => {
      await add('Rain in the north.', { title: 'n', metadata: { region: 'north', year: 2020, tags: ['wet', 'cold'] } })
      await add('Rain in the south.', { title: 's', metadata: { region: 'south', year: 2021 } })
      const by = async (filter: Record<string, string | number | (string | number)[]>): Promise<string[]> =>
        (await knowledge.retrieve(agent, { query: 'rain', history: [], topK: 5, filter })).hits.map((hit) => hit.title).sort()
      assert.deepEqual(await by({ region: 'north' }), ['n'])
      assert.deepEqual(await by({ region: ['north', 'south'] }), ['n', 's'])
      assert.deepEqual(await by({ region: 'north', year: 2021 }), [])
      assert.deepEqual(await by({ tags: 'cold' }), ['n'])
      assert.deepEqual(await by({ year: '2020' }), [])
      assert.deepEqual(await by({ toString: 'x' }), [])
    })

    test('a filter knows of every change: of a document that comes, changes, is replaced and goes', async () => {
      const filter = { region: 'north' }
      const by = async (): Promise<string[]> =>
        (await knowledge.retrieve(agent, { query: 'rain', history: [], topK: 100, filter })).hits.map(({ title }) => title).sort()
      const [first, second] = [
        await add('Rain in the north.', { title: 'a', metadata: filter }),
        await add('Rain in the south.', { title: 'b', metadata: { region: 'south' } }),
      ]
      assert.deepEqual(await by(), ['a'])
      await knowledge.updateDocument(agent, second.id, { metadata: filter })
      assert.deepEqual(await by(), ['a', 'b'])
      await knowledge.updateDocument(agent, first.id, { metadata: { region: 'south' } })
      assert.deepEqual(await by(), ['b'])
      await add('Rain in the east.', { title: 'c', metadata: filter })
      assert.deepEqual(await by(), ['b', 'c'])
      await knowledge.replaceDocument(
        agent,
        second.id,
        textOf('No rain, but snow.', { title: 'b', metadata: { region: 'west' } }),
      )
      await settled(knowledge, agent)
      assert.deepEqual(await by(), ['c'])
      await knowledge.replaceDocument(agent, first.id, textOf('Rain, rain.', { title: 'a', metadata: filter }))
      await settled(knowledge, agent)
      assert.deepEqual(await by(), ['a', 'c'])
      await knowledge.deleteDocument(agent, first.id)
      assert.deepEqual(await by(), ['c'])
    })

    test('a page of documents with large metadata is shorter, and the pages hold all of them', async () => {
      const notes = Array.from({ length: 16 }, () => 'x'.repeat(1_000))
      const added = await Promise.all(
        Array.from({ length: 40 }, (_, i) => knowledge.addDocument(agent, textOf(`Note ${i}.`, { metadata: { notes } }))),
      )
      const listed: string[] = []
      for (let hasMore = true; hasMore; ) {
        const cursor = listed.at(-1)
        const page = await knowledge.listDocuments(agent, { limit: 100, ...(cursor && { cursor }) })
        assert.ok(page!.items.length > 0 && JSON.stringify(page!.items).length < 400_000)
        assert.equal(page!.total, 40)
        listed.push(...page!.items.map(({ id }) => id))
        hasMore = page!.hasMore
      }
      assert.deepEqual(listed.toSorted(), added.map(({ id }) => id).toSorted())
    })

    test('a filter goes through many documents, and many filters at once', async () => {
      await Promise.all(
        Array.from({ length: 700 }, (_, i) =>
          knowledge.addDocument(agent, textOf(`Rain on day ${i}.`, { title: `${i}`, metadata: { third: i % 3, day: i } })),
        ),
      )
      await settled(knowledge, agent)
      const by = async (filter: Record<string, number>): Promise<string[]> =>
        (await knowledge.retrieve(agent, { query: 'rain', history: [], topK: 100, filter })).hits.map(({ title }) => title)
      const days = Array.from({ length: 40 }, (_, i) => i * 17)
      assert.deepEqual(await Promise.all(days.map((day) => by({ day }))), days.map((day) => [`${day}`])) // biome-ignore format: one line
      const third = await by({ third: 1 })
      assert.equal(third.length, 100)
      assert.ok(third.every((title) => Number(title) % 3 === 1))
    })

    test('a bare question is understood from the conversation, a full one ignores it', async () => {
      await add('Marie Curie was born in Warsaw.', { title: 'Curie' })
      await add('Isaac Newton was born in Woolsthorpe.', { title: 'Newton' })
      const history: HistoryEntry[] = [{ role: 'USER', content: 'Tell me about Isaac Newton' }, { role: 'AI', content: 'Newton was a physicist.' }] // biome-ignore format: a conversation
      assert.equal((await find(knowledge, agent, 'where was he born?', history))[0]?.title, 'Newton')
      assert.equal((await find(knowledge, agent, 'In which city was the chemist Marie Curie born?', history))[0]?.title, 'Curie')
    })

    test('a misspelt word finds what was meant', async () => {
      await add('The photographer lives in Copenhagen.', { title: 'P' })
      await add('The gardener lives in Aarhus.', { title: 'G' })
      assert.equal((await titles('phtographer'))[0], 'P')
      assert.equal((await titles('garedner'))[0], 'G')
      const { query } = await knowledge.retrieve(agent, { query: 'phtographer', history: [], topK: 1, filter: null })
      assert.match(query, /photograph/)
    })

    test('inflections meet, with and without diacritics', async () => {
      await add('Les universités françaises sont célèbres.', { title: 'fr' })
      await add('Die Häuser der Altstadt sind schön.', { title: 'de' })
      assert.equal((await titles('universite francaise'))[0], 'fr')
      assert.equal((await titles('Haus in der Altstadt'))[0], 'de')
    })

    test('Chinese, Japanese and Thai are found without spaces', async () => {
      await add('北京大学成立于1898年，是中国第一所国立综合性大学。', { title: 'zh' })
      await add('富士山は日本で最も高い山である。', { title: 'ja' })
      await add('กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย', { title: 'th' })
      assert.equal((await titles('北京大学是什么时候成立的？'))[0], 'zh')
      assert.equal((await titles('日本で一番高い山は何ですか'))[0], 'ja')
      assert.equal((await titles('เมืองหลวงของไทยคืออะไร'))[0], 'th')
    })

    test('a hit carries the address of its document, from its source or its metadata', async () => {
      await add('Alpha text.', { source: { type: 'url', url: 'https://example.org/a' } })
      await add('Beta text.', { metadata: { url: 'https://example.org/b' } })
      await add('Gamma text.', { metadata: { url: 'javascript:alert(1)' } })
      await add('Delta text.', { metadata: { url: 'https://example.org/d\n# Heading' } })
      const urls = async (query: string): Promise<string | null | undefined> => (await find(knowledge, agent, query))[0]?.url
      assert.equal(await urls('alpha'), 'https://example.org/a')
      assert.equal(await urls('beta'), 'https://example.org/b')
      assert.equal(await urls('gamma'), null)
      assert.equal(await urls('delta'), null)
    })

    test('documents are listed newest first, page by page, by status', async () => {
      const ids: string[] = []
      for (const text of ['one', 'two', 'three']) ids.unshift((await add(text)).id)
      const first = (await knowledge.listDocuments(agent, { limit: 2, status: 'ready' }))!
      assert.deepEqual(first.items.map((item) => item.id), ids.slice(0, 2)) // biome-ignore format: one line
      assert.equal(first.hasMore, true)
      assert.equal(first.total, 3)
      const second = (await knowledge.listDocuments(agent, { limit: 2, status: 'ready', cursor: ids[1]! }))!
      assert.deepEqual(second.items.map((item) => item.id), ids.slice(2)) // biome-ignore format: one line
      assert.equal(second.hasMore, false)
      assert.equal((await knowledge.listDocuments(agent, { limit: 2, status: 'failed' }))?.total, 0)
      assert.equal(await knowledge.listDocuments(agent, { limit: 2, cursor: randomUUID() }), undefined)
    })

    test('passages are listed in reading order, page by page, and are the document', async () => {
      const paragraphs = Array.from(
        { length: 60 },
        (_, i) => `Paragraph number ${i} speaks of many things, at some length, ${'and goes on and on '.repeat(10)}${i}.`,
      )
      const document = await add(paragraphs.join('\n\n'))
      const texts: string[] = []
      const seen = new Set<string>()
      let cursor: string | undefined
      for (;;) {
        const page = (await knowledge.listPassages(agent, document.id, {
          limit: 7,
          ...(cursor === undefined ? {} : { cursor }),
        }))!
        for (const passage of page.items) {
          assert.equal(passage.index, texts.push(passage.text) - 1)
          assert.ok(isUuid(passage.id) && !seen.has(passage.id))
          seen.add(passage.id)
        }
        assert.equal(page.total, document.passageCount)
        if (!page.hasMore) break
        cursor = page.items.at(-1)!.id
      }
      assert.equal(texts.length, document.passageCount)
      assert.ok(texts.length > 7)
      assert.deepEqual(texts.join(' ').split(/\s+/), paragraphs.join(' ').split(/\s+/))
      assert.equal(await knowledge.listPassages(agent, document.id, { limit: 7, cursor: randomUUID() }), undefined)
      assert.equal(await knowledge.listPassages(agent, randomUUID(), { limit: 7 }), undefined)
    })

    test('a document of several megabytes is read whole, and one that takes its place, too', async () => {
      const text = (end: string) => `${'The heron waits in the reeds for the fish to come.\n\n'.repeat(50_000)}${end}`
      const { id } = await add(text('The otter is called Bartholomew.'))
      assert.match((await find(knowledge, agent, 'Bartholomew'))[0]!.text, /The otter is called Bartholomew\.$/)
      await knowledge.replaceDocument(agent, id, textOf(text('The otter is called Ermintrude.')))
      await settled(knowledge, agent)
      assert.match((await find(knowledge, agent, 'Ermintrude'))[0]!.text, /The otter is called Ermintrude\.$/)
      assert.equal((await knowledge.findDocument(agent, id))!.bytes, text('The otter is called Ermintrude.').length)
    })

    test('hundreds of documents sent at once are all indexed, and each is found', async () => {
      const documents = await Promise.all(
        Array.from({ length: 300 }, (_, i) =>
          knowledge.addDocument(agent, textOf(`The treasure number ${i} is the word w${i}ord.`, { title: `T${i}` })),
        ),
      )
      await settled(knowledge, agent)
      assert.equal(new Set(documents.map((document) => document.id)).size, 300)
      assert.deepEqual(await knowledge.count(agent), { documents: 300, passages: 300 })
      assert.equal((await titles('w123ord'))[0], 'T123')
      assert.equal(
        (await knowledge.retrieve(agent, { query: 'treasure', history: [], topK: 100, filter: null })).hits.length,
        100,
      )
    })

    test('agents do not see each other, and one that is deleted leaves nothing', async () => {
      const document = await add('The secret of one agent.')
      const other = await newAgent()
      await knowledge.addDocument(other, textOf('The secret of another.'))
      await settled(knowledge, other)
      assert.deepEqual((await find(knowledge, agent, 'secret')).map((hit) => hit.documentId), [document.id]) // biome-ignore format: one line
      assert.equal(await knowledge.findDocument(other, document.id), undefined)
      await knowledge.deleteAgent(agent)
      assert.deepEqual(await find(knowledge, agent, 'secret'), [])
      assert.deepEqual(await knowledge.count(agent), { documents: 0, passages: 0 })
      assert.equal((await find(knowledge, other, 'secret')).length, 1)
    })

    test('a question is answered in words of the base, and confidence tells whether the base knows', async () => {
      await add('The Eiffel Tower is 330 metres tall. It stands in Paris.', { title: 'Eiffel Tower' })
      for (let i = 0; i < 20; i++) await add(`Note ${i} is about gardening tools and soil.`, { title: `Note ${i}` })
      const known = await knowledge.retrieve(agent, {
        query: 'How tall is the Eiffel Tower?',
        history: [],
        topK: 3,
        filter: null,
      })
      const unknown = await knowledge.retrieve(agent, { query: 'Who painted the Mona Lisa?', history: [], topK: 3, filter: null })
      assert.ok(known.confidence > unknown.confidence)
      const { quotes } = await knowledge.extract(agent, {
        question: 'How tall is the Eiffel Tower?',
        history: [],
        retrieval: known,
      })
      assert.ok(quotes.length > 0)
      for (const quote of quotes) assert.ok(known.hits[quote.hit]!.text.includes(quote.text))
    })
  })
}
