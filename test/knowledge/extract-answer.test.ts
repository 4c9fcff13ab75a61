import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Hit, Retrieval } from '../../src/core/ports/retrieval.ts'
import { ANSWER_THRESHOLD } from '../../src/core/ports/retrieval.ts'
import { extractAnswer } from '../../src/knowledge/answer/extract-answer.ts'
import { describe as describeUnits, featureNames } from '../../src/knowledge/answer/features.ts'
import { termsOf } from '../../src/knowledge/answer/question-terms.ts'
import { quotable } from '../../src/knowledge/answer/quotable.ts'
import { unitsOf } from '../../src/knowledge/answer/units.ts'
import { type Lantern, openLantern } from '../support/lantern.ts'
import { finish, fixedStatistics } from '../support/work.ts'

describe('answers from a small documentation', () => {
  let lantern: Lantern
  before(async () => {
    lantern = await openLantern()
  })
  after(() => lantern.close())

  for (const [question, answer] of [
    ['How much does the Team plan cost?', '12 euros per user'],
    ['When was two-factor authentication introduced?', 'March 2021'],
    ['Who leads the security team?', 'Ada Holm'],
    ['How many requests can a key send?', '600 requests a minute'],
    ['Why does the old key keep working?', 'because clients need time'],
    ['Does it run on Windows?', 'Linux, macOS and Windows'],
    ['What is a backup?', 'a copy of the data folder'],
    ['Wer hat das Unternehmen gegründet?', 'Jana Petersen'],
  ] as const) {
    test(`"${question}" is answered with "${answer}"`, async () => {
      const { extract, quoted } = await lantern.ask(question)
      assert.ok(extract.confidence >= ANSWER_THRESHOLD, `confidence ${extract.confidence}`)
      assert.ok(quoted.includes(answer), quoted)
    })
  }

  for (const question of [
    'Who won the 1998 World Cup?',
    'What is the capital of Mongolia?',
    'How do I bake bread?',
    'How many moons does Jupiter have?',
    'Who is the president of France?',
    'What is a good recipe for pasta?',
    'Wie wird das Wetter morgen?',
  ]) {
    test(`"${question}" is nothing that the base answers`, async () => {
      const { extract, retrieval } = await lantern.ask(question)
      assert.ok(extract.confidence < ANSWER_THRESHOLD, `confidence ${extract.confidence}`)
      assert.ok(retrieval.confidence < ANSWER_THRESHOLD, `retrieval ${retrieval.confidence}`)
    })
  }

  test('a question how to do something is answered with the steps under the heading that asks it', async () => {
    const { quoted } = await lantern.ask('How do I restore a backup?')
    assert.ok(quoted.startsWith('1. Stop the server') && quoted.endsWith('`lantern start`.'), quoted)
  })

  test('a sentence that leads up to code is quoted with the code', async () => {
    const { quoted } = await lantern.ask('How do I install Lantern?')
    assert.ok(quoted.includes('run:\n\n```sh\nnpm install --global lantern\nlantern init\n```'), quoted)
  })

  test('a table row is quoted with its table', async () => {
    const { quoted } = await lantern.ask('How many watts does the Ember lamp use?')
    assert.ok(quoted.includes('| Lamp | Watts | Colour |\n| --- | --- | --- |'), quoted)
  })

  test('a row that names its columns is quoted alone', async () => {
    const rows = 'Code: A1 | Town: Arles | Mayor: Ann\nCode: B2 | Town: Basel | Mayor: Bob\nCode: C3 | Town: Celle | Mayor: Cid'
    const units = unitsOf(rows)
    const { start, end } = quotable(rows, units, 1, 'who', 0)
    assert.equal(rows.slice(start, end), 'Code: B2 | Town: Basel | Mayor: Bob')
  })

  test('a bare question is understood from what was said before', async () => {
    const { quoted } = await lantern.ask('When did that happen?', [
      { role: 'USER', content: 'Who introduced two-factor authentication?' },
      { role: 'AI', content: 'Ada Holm introduced two-factor authentication.' },
    ])
    assert.ok(quoted.includes('March 2021'), quoted)
  })

  test('quotes stand word for word in the passage that they name, in reading order, at most two', async () => {
    for (const question of [
      'How can I get a refund?',
      'key',
      'lantern server stop start',
      'What happens each month?',
      '1 2 3',
      '日本語?',
    ]) {
      const { extract, retrieval } = await lantern.ask(question)
      assert.ok(extract.quotes.length <= 2)
      for (const quote of extract.quotes) assert.ok(retrieval.hits[quote.hit]!.text.includes(quote.text))
      const places = extract.quotes.map((quote) => quote.hit * 1e6 + retrieval.hits[quote.hit]!.text.indexOf(quote.text))
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      )
    }
  })
})

describe('answers from any passage', () => {
  const statistics = fixedStatistics(100, () => 3)
  const retrievalOf = (...texts: string[]): Retrieval => ({
    query: '',
    standsAlone: true,
    confidence: 0.9,
    hits: texts.map((text, i): Hit => {
      const id = String(i)
      return { documentId: id, passageId: id, title: 'T', heading: '', text, page: null, url: null, score: 10 - i, scores: {} }
    }),
  })
  const quotesOf = (question: string, ...texts: string[]): string[] =>
    finish(extractAnswer({ question, history: [], retrieval: retrievalOf(...texts) }, statistics)).quotes.map(
      (quote) => quote.text,
    )

  test('without hits there is nothing to quote and nothing to be sure of', () => {
    assert.deepEqual(finish(extractAnswer({ question: 'why?', history: [], retrieval: retrievalOf() }, statistics)), {
      quotes: [],
      confidence: 0,
      found: 'nothing',
    })
  })

  test('what a thing is goes before what is done to it, and before what a kind of it is', () => {
    const is = 'A lamp is a device that gives light.'
    for (const other of [
      'A lamp is deleted by its owner.',
      'A lamp is for people who read.',
      'The sample lamp is a lamp that comes with the house.',
    ])
      assert.deepEqual(quotesOf('What is a lamp?', other, is)[0], is, other)
  })

  test('a passage that says the question word for word goes before one with the same words', () => {
    const apart = 'A card is what we may need for the door, and you do not.\n\nMore.'
    const question = 'Do you need a card?'
    const retrieval = retrievalOf(apart, 'Nobody, but you need a card for the door.\n\nMore.')
    retrieval.hits = retrieval.hits.map((hit) => ({ ...hit, score: 10 }))
    assert.equal(finish(extractAnswer({ question, history: [], retrieval }, statistics)).quotes[0]!.hit, 1)
  })

  test('a quote that is abrupt, or from another section than the first, says where it is from', () => {
    const headings = ['Lamps', 'Bells']
    const from = (question: string, ...texts: string[]) => {
      const retrieval = retrievalOf(...texts)
      retrieval.hits = retrieval.hits.map((hit, i) => ({ ...hit, title: 'House', heading: headings[i]! }))
      const { quotes } = finish(extractAnswer({ question, history: [], retrieval }, statistics))
      return quotes.map((quote) => (quote.isAbrupt ? quote.from : undefined))
    }
    assert.deepEqual(from('Which lamp is red?', 'This lamp is red.\n\nIt blinks.'), ['House › Lamps'])
    assert.deepEqual(from('Which lamp is red?', 'Our lamp is red.\n\nIt blinks.'), [undefined])
    assert.deepEqual(from('Which lamp is red?', 'This lamp is red. It blinks.'), [undefined])
    const yes = 'Yes, it is red.\n\nIt blinks.'
    assert.deepEqual(from('Is it red in the evening?', yes), ['House › Lamps'], 'a yes to another question')
    assert.deepEqual(from('Are the lamps red?', yes), [undefined])
    assert.deepEqual(from('Is it red in the evening?', 'Yes-men are red.\n\nThey blink.'), [undefined])
    const both = ['A lamp is red.\n\nIt blinks.', 'A bell is blue.\n\nIt rings.']
    assert.deepEqual(from('Is a lamp red and a bell blue?', ...both), [undefined, 'House › Bells'])
  })

  test('steps count for a passage where the question asks how, and a heading that is a question', () => {
    const features = (question: string, text: string, heading = '') => {
      const hits = retrievalOf(text).hits.map((hit) => ({ ...hit, heading }))
      const [unit] = finish(describeUnits({ question, history: [] }, hits, statistics)).candidates
      return (['steps', 'faq'] as const).map((name) => unit!.features[featureNames.indexOf(name)])
    }
    const steps = 'Do this:\n\n1. Open the lamp.\n2. Close it.'
    assert.deepEqual(features('How do I open a lamp?', steps), [1, 0])
    assert.deepEqual(features('Who opens a lamp?', steps), [0, 0])
    assert.deepEqual(features('How do I open a lamp?', 'Open it.\n\nClose it.', 'Lamps › How does it open?'), [0, 1])
    assert.deepEqual(features('How do I open a lamp?', 'Open it. Close it.', 'How does it open?'), [0, 0])
  })

  test('a quote that is hardly right is what comes closest, and nothing comes close to what the base does not know', () => {
    const answer = (question: string, confidence: number, texts: string[], frequency = () => 3) => {
      const retrieval = { ...retrievalOf(...texts), confidence }
      retrieval.hits = retrieval.hits.map((hit) => ({ ...hit, score: 10 }))
      return finish(extractAnswer({ question, history: [], retrieval }, fixedStatistics(100, frequency)))
    }
    const lamp = 'A lamp is a device that gives light.\n\nMore.'
    const sure = answer('What is a lamp?', 0.99, [lamp])
    assert.equal(sure.found, 'answer')
    const torn = answer(
      'When does a lamp blink?',
      0.99,
      Array.from({ length: 3 }, (_, i) => `A lamp may blink in ${1990 + i}.\n\nMore.`),
    )
    assert.equal(torn.found, 'closest', String(torn.confidence))
    assert.ok(torn.confidence < sure.confidence / 2, `${torn.confidence} ${sure.confidence}`)
    assert.equal(answer('Will a lamp be there?', 0, [lamp]).found, 'nothing')
    assert.equal(answer('Does it support zorgblatt?', 0.6, [lamp], () => 0).found, 'nothing')
  })

  test('a section below the question itself is the answer', () => {
    const frequency = (stem: string) => (stem === 'lamp' ? 90 : 3)
    const answer = (heading: string) => {
      const text = `## ${heading}\n\nA charge takes a minute: fast.\n\nMore.`
      const retrieval = { ...retrievalOf(text, text, text), confidence: 0.97 }
      return finish(extractAnswer({ question: 'is it fast', history: [], retrieval }, fixedStatistics(100, frequency)))
    }
    const asked = answer('Is a lamp fast?')
    assert.equal(asked.found, 'answer')
    assert.ok(asked.confidence >= 0.9, String(asked.confidence))
    assert.ok(answer('Is a fast lamp dear, cheap or heavy?').confidence < 0.5)
  })

  test('two quotes that are long together are one', () => {
    const long = ' It goes on, for longer than anybody cares to read.'.repeat(8)
    const both = (tail: string) => [`A lamp is red.${tail}\n\nMore.`, `A bell is blue.${tail}\n\nMore.`]
    assert.equal(quotesOf('Is a lamp red and a bell blue?', ...both('')).length, 2)
    assert.equal(quotesOf('Is a lamp red and a bell blue?', ...both(long)).length, 1)
  })

  test('a passage that is all heading has nothing to quote', () => {
    assert.deepEqual(quotesOf('What is a lamp?', '# What is a lamp?'), [])
  })

  test('of many passages of tiny sentences, or of much text, only the best are looked at', () => {
    const asking = { question: 'What is a lamp?', history: [] }
    const lookedAt = (text: string) => {
      const { hits } = retrievalOf(...Array.from({ length: 100 }, () => text))
      const alike = hits.map((hit) => ({ ...hit, score: 10 }))
      return finish(describeUnits(asking, alike, statistics)).candidates.map(({ hit }) => hit)
    }
    const tiny = lookedAt('店。门？周！'.repeat(300))
    assert.equal(tiny.length, 600)
    assert.equal(Math.max(...tiny), 2)
    const long = lookedAt(`${'The lamp burns with oil that is bought in the harbour of the town on Monday. '.repeat(26)}`)
    assert.equal(Math.max(...long), 14)
  })

  test('a question that repeats two words has each pair of neighbours once', () => {
    const pairsOf = (question: string) => finish(termsOf({ question, history: [] }, 'en', statistics)).pairs
    const [once] = pairsOf('lamp harbour')
    const many = pairsOf('lamp harbour '.repeat(100))
    assert.deepEqual(
      many.map(({ first, second }) => [first, second]),
      [
        [0, 1],
        [1, 0],
      ],
    )
    assert.ok(Math.abs(many[0]!.share - 100 * once!.share) < 1e-6, String(many[0]!.share))
  })

  test('neighbours of the question count where they are near each other in a sentence, in any order', () => {
    const pairsIn = (text: string) =>
      finish(describeUnits({ question: 'lamp harbour', history: [] }, retrievalOf(text).hits, statistics)).candidates[0]!
        .features[featureNames.indexOf('pairs')]
    assert.equal(pairsIn('The lamp by the old harbour burns.'), 0.5)
    assert.equal(pairsIn('The harbour has one green lamp now.'), 0.5)
    assert.equal(pairsIn('A lamp is a thing that was not often seen in that harbour.'), 0)
    assert.equal(pairsIn('A lamp, a lamp, a lamp, then ten other words that say very little, harbour and one lamp.'), 0.5)
  })

  test('the same sentence in two passages is quoted once', () => {
    assert.deepEqual(quotesOf('What colour is the lamp?', 'The lamp is green.', 'The lamp is green.'), ['The lamp is green.'])
  })

  test('a sentence with what the question word asks for is preferred, in other languages too', () => {
    assert.ok(
      quotesOf('Wann wurde die Brücke gebaut?', 'Die Brücke wurde aus Stein gebaut. Die Brücke wurde 1886 gebaut.')[0]!.includes(
        '1886',
      ),
    )
    assert.ok(quotesOf('这座桥是哪一年建的？', '这座桥是用石头建的。这座桥是1886年建的。')[0]!.includes('1886'))
  })

  test('words meet in spite of inflection, compounds and missing spaces', () => {
    assert.deepEqual(quotesOf('Kto zarządza bazyliką?', 'Wieża jest stara. Zarządcami bazyliki są zakonnicy. Dzwon jest nowy.'), [
      'Zarządcami bazyliki są zakonnicy.',
    ])
    assert.ok(
      quotesOf('ใครเป็นผู้ก่อสร้างสะพานแขวน', 'หอคอยสูงมากและเก่าแก่ที่สุด\n\nวิศวกรชื่อสมชายได้ก่อสร้างสะพานแขวนแห่งนี้\n\nระฆังใบใหม่ทำจากทองเหลือง')
        .join('')
        .includes('สมชาย'),
    )
  })

  test('what is asked with in Chinese does not count as something that the passage lacks', () => {
    const known = fixedStatistics(100, (stem) => (/[什么时候是]/u.test(stem) ? 0 : 3))
    const retrieval = { ...retrievalOf('图书馆建成于一九五二年。'), confidence: 0.5 }
    const { confidence } = finish(extractAnswer({ question: '图书馆是什么时候建成的？', history: [], retrieval }, known))
    assert.ok(confidence >= ANSWER_THRESHOLD, `confidence ${confidence}`)
  })

  test('steps are quoted alone, however near the next sentence comes', () => {
    const steps = '## Clean the lamp\n\n1. Unplug the lamp.\n2. Wipe the lamp.'
    assert.deepEqual(quotesOf('How do I clean the lamp?', `${steps}\n\nTo clean the lamp takes a minute.`), [
      '1. Unplug the lamp.\n2. Wipe the lamp.',
    ])
  })

  test('the same question and passages give the same answer', () => {
    const texts = ['One lamp is green. Another lamp is red. A third lamp is blue.', 'Lamps are lamps. Some lamps glow.']
    assert.deepEqual(quotesOf('Which lamp glows?', ...texts), quotesOf('Which lamp glows?', ...texts))
  })

  test('hostile passages are read to their end', () => {
    for (const text of [
      '| '.repeat(20_000),
      '```\n'.repeat(10_000),
      '- '.repeat(20_000),
      'a:\n'.repeat(10_000),
      '. '.repeat(20_000),
    ]) {
      quotesOf('How do I install the a lamp?', text)
    }
  })
})
