import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { HistoryEntry } from '../../src/core/message.ts'
import { phrasesIn } from '../../src/core/phrases.ts'
import { newId } from '../../src/core/platform/ids.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { topicOf } from '../../src/knowledge/query/topic.ts'
import { done } from '../../src/store/knowledge/work.ts'
import { settled } from '../contract/knowledge.ts'
import { finish } from '../support/work.ts'

/** Makes a section too long to share its passage with another. */
const rest = 'There is no more to be said of it here, and the rest is in the leaflet. '.repeat(10)
const documents = {
  'ember.md': `# Ember\n\n## Cleaning\n\nWipe the glass with a dry cloth once it has cooled down.\n\n${rest}\n\n## Guarantee\n\nFive years from the day of delivery.\n\n${rest}`,
  'chime.md': `# Chime\n\n## Volume\n\nTurn the ring at the back to make it louder.\n\n${rest}\n\n## Guarantee\n\nThe guarantee is two years.\n\n${rest}`,
}

describe('a question that goes on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-topic-'))
  const agent = randomUUID()
  let knowledge: ReturnType<typeof openKnowledge>
  before(async () => {
    knowledge = openKnowledge({ place: { folder }, ids: newId })
    for (const [filename, text] of Object.entries(documents))
      await knowledge.addDocument(agent, {
        ...{ source: { type: 'file' as const, filename }, mediaType: 'text/markdown', metadata: {} },
        content: Buffer.from(text),
      })
    await settled(knowledge, agent)
  })
  after(async () => {
    await knowledge.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const said = (question: string, reply: string): HistoryEntry[] => [
    { role: 'USER', content: question },
    { role: 'AI', content: reply },
  ]
  const about = said('which cloth for the glass', 'Wipe the glass with a dry cloth once it has cooled down. [1]')
  const titlesFor = async (query: string, history: HistoryEntry[]) => {
    const { hits } = await knowledge.retrieve(agent, { query, history, topK: 6, filter: null })
    return hits.map(({ title, heading }) => `${title}, ${heading.split(' › ').at(-1)}`)
  }

  test('is answered by the document that the last reply quotes', async () => {
    const alone = await titlesFor('how many years is the guarantee?', [])
    assert.equal(alone[0], 'Chime, Guarantee')
    assert.equal((await titlesFor('and how many years is the guarantee?', about))[0], 'Ember, Guarantee')
    // A reply that says of itself that the documents do not say it has no topic.
    const declined = said('can it fly', phrasesIn('en').dontKnow)
    assert.equal((await titlesFor('and how many years is the guarantee?', [...about, ...declined]))[0], 'Ember, Guarantee')
  })

  test('is answered by another document where it names it', async () => {
    assert.equal((await titlesFor('and the guarantee card of the Chime?', about))[0], 'Chime, Guarantee')
  })
})

test('a conversation is about the document of a passage that holds a line of its last reply', () => {
  const hit = {
    documentId: 'ember',
    passageId: 'p',
    title: 'Ember',
    heading: 'Cleaning',
    ...{ text: documents['ember.md'], page: null, url: null, score: 1, scores: {} },
  }
  const asked: string[] = []
  const topic = (reply: string) =>
    finish(
      topicOf(
        [
          { role: 'USER', content: 'which cloth' },
          { role: 'AI', content: reply },
        ],
        (question) => {
          asked.push(question)
          return done([{ ...hit, documentId: 'other', text: 'Something else.' }, hit])
        },
      ),
    )
  assert.equal(topic('From “Ember › Cleaning”:\n\nWipe the glass with a dry cloth once it has cooled down. [1]'), 'ember')
  assert.equal(topic('A dry cloth will do, as long as the glass is cold.'), undefined)
  assert.deepEqual(asked, ['which cloth', 'which cloth'])
  assert.equal(topic('a dry cloth'), undefined, 'too short to say where it is from')
  assert.equal(
    finish(topicOf([{ role: 'AI', content: documents['ember.md'] }], () => done([hit]))),
    undefined,
    'nothing was asked',
  )
  assert.equal(asked.length, 2)
})
