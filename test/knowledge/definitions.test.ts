import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import { isDefinitionAsked } from '../../src/knowledge/answer/definitions.ts'
import { describe as describeUnits, featureNames } from '../../src/knowledge/answer/features.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { wordAsked } from '../../src/knowledge/query/word-asked.ts'
import { analyse, contentStems } from '../../src/text/analyse.ts'
import { settled } from '../contract/knowledge.ts'
import { finish, fixedStatistics } from '../support/work.ts'

test('a question that asks what something is', () => {
  for (const question of [
    'What is a lamp?',
    'whats a lamp',
    "what's the lamp",
    'What does lamp mean?',
    'what does LED stand for',
    'Was bedeutet Lampe?',
    '¿Qué significa lámpara?',
    'Was ist eine Lampe?',
    "C'est quoi une lampe ?",
    'Que veut dire lampe ?',
    '¿Qué es una lámpara?',
    'ランプとは？',
    'ランプって何ですか？',
  ])
    assert.ok(isDefinitionAsked(question), question)
  for (const question of ['What is the price of a lamp?', 'Is it a lamp?', 'What does the lamp do?', 'ランプはどこですか？'])
    assert.ok(!isDefinitionAsked(question), question)
})

test('a question that asks what a word means', () => {
  for (const [question, word] of [
    ['What does LED mean?', 'LED'],
    ['what does  "LED"  stand for', '"LED"'],
    ['Que veut dire LED ?', 'LED'],
    ['What does it cost?', undefined],
    [`What does ${'LED '.repeat(30)} mean?`, undefined],
  ])
    assert.equal(wordAsked(question!), word, question)
})

test('words without their apostrophe say nothing about the subject either', () => {
  assert.deepEqual(
    contentStems(analyse("whats a lamp and how's it lit, I dont know", 'en')),
    contentStems(analyse('lamp lit know', 'en')),
  )
})

test('how far a sentence says what a thing is', () => {
  const statistics = fixedStatistics(100, () => 5)
  const definesOf = (question: string, text: string): number => {
    const hit = { documentId: 'd', passageId: 'p', title: '', heading: '', text, page: null, url: null, score: 1, scores: {} }
    const [candidate] = finish(describeUnits({ question, history: [] }, [hit], statistics)).candidates
    return candidate!.features[featureNames.indexOf('defines')]!
  }
  for (const [question, sentence, expected] of [
    ['What is a lamp?', 'A lamp is a source of light.', 1],
    ['What is a lamp?', 'A lamp is switched off.', 0],
    ['What is a lamp?', 'The desk lamp is a source of light.', 0.5],
    ['What is Beacon?', 'Beacon - *the light at sea* - is a toolkit.', 1],
    ['What is Beacon?', 'Beacon (2.0) is a toolkit.', 1],
    ['What does LED mean?', '- **LED**: light-emitting diode', 1],
    ['What does LED mean?', '- **LED lamp** - lamp with a diode', 0],
    ['What does LED mean?', '- LED: 4 watts', 0],
    ['灯台って何', '灯台は、船に光で場所を知らせる塔のことを指します。', 1],
    ['灯台って何', '灯台ガイドは読み物です。', 0.5],
  ] as const)
    assert.equal(definesOf(question, sentence), expected, sentence)
})

describe('what a thing is', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-definitions-'))
  const agent = randomUUID()
  let knowledge: ReturnType<typeof openKnowledge>
  before(async () => {
    knowledge = openKnowledge({ place: { folder }, ids: newId })
    const add = (filename: string, text: string) =>
      knowledge.addDocument(agent, {
        ...{ source: { type: 'file' as const, filename }, mediaType: 'text/markdown', metadata: {} },
        content: Buffer.from(text),
      })
    const parts = ['Sharing', 'Exporting', 'Deleting', 'Renaming', 'Importing', 'Printing', 'Editing', 'Saving']
    for (const part of parts)
      await add(
        `${part}.md`,
        `# ${part} a macro\n\nThe macro is now ready. A macro, any macro: click the macro, then the macro menu, and the macro is done.`,
      )
    await add(
      'macros.md',
      `# Macros\n\nMacros save time. In this manual you find all of their commands, one by one.\n\n## Name\n\n${'The name is free. '.repeat(40)}`,
    )
    await add(
      'names.md',
      `# Words\n\nA badge is a sign of rank that people wear.\n\n## Cost\n\nThe badge is currently 5 euros. The badge is free for members.`,
    )
    await add(
      'index.md',
      '---\ntitle: Beacon - Signals from the coast for boats and ships\n---\n# Beacon\n\nBeacon - *the light at sea* - is a toolkit for signals.',
    )
    for (const part of ['Sound', 'Colour', 'Time', 'Weight', 'Price', 'Speed', 'Depth', 'Height'])
      await add(`${part}.md`, `# ${part} - Beacon\n\nThe beacon is the main object. Beacon runs it. A beacon has a ${part}.`)
    await settled(knowledge, agent)
  })
  after(async () => {
    await knowledge.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = async (query: string) => {
    const retrieval = await knowledge.retrieve(agent, { query, history: [], topK: 6, filter: null })
    return { retrieval, ...(await knowledge.extract(agent, { question: query, history: [], retrieval })) }
  }

  test('is first looked for in the passage that is called so', async () => {
    const { retrieval, quotes } = await ask('whats a macro')
    assert.equal(retrieval.hits[0]!.title, 'Macros')
    assert.match(quotes[0]!.text, /^Macros save time/)
    // Those that speak of it more are first for any other question.
    assert.notEqual((await ask('macro menu')).retrieval.hits[0]!.title, 'Macros')
  })

  test('is said by a noun with its article, rather than by a state', async () => {
    assert.match((await ask('What is a badge?')).quotes[0]!.text, /^A badge is a sign of rank/)
  })

  test('is said by the page that is called so, and what stands between name and verb is passed over', async () => {
    assert.match((await ask('what is Beacon')).quotes[0]!.text, /^Beacon - \*the light at sea\* - is a toolkit/)
  })
})
