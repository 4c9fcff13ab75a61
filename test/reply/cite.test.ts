import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hit } from '../../src/core/ports/retrieval.ts'
import { Citer, cite } from '../../src/reply/cite.ts'
import { supportingText } from '../../src/reply/snippet.ts'
import { PassageChecker, toClaim } from '../../src/reply/support.ts'

const hit = (text: string, title = ''): Hit => ({
  documentId: text,
  passageId: text,
  title,
  heading: '',
  text,
  page: null,
  url: null,
  score: 1,
  scores: {},
})
const lamp = hit('The Aurora lamp has a warranty of two years. It weighs 1,250 grams and is made in Bergen.', 'Lamps')
const shop = hit('The shop is open on Saturday from ten to four. Parking costs three euros an hour.', 'Shop')
const hits = [lamp, shop]
const markdownOf = (text: string, of = hits, question = '') => cite(text, of, { question }).markdown
const countsOf = (text: string, of = hits, question = '') => {
  const { supported, unsupported, unchecked } = cite(text, of, { question }).citations
  return [supported, unsupported, unchecked]
}

describe('the marks of a reply', () => {
  const quotes = new Map([
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
  ])
  const three = [hit('a'), hit('b'), hit('c')]
  const plain = (text: string) => cite(text, three, { quotes })

  test('are numbered anew in order of first mention, and only what is cited is a source', () => {
    const { markdown, sources } = plain('x [3] y [1] z [3].')
    assert.equal(markdown, 'x [1] y [2] z [1].')
    assert.deepEqual(
      sources.map(({ index, documentId }) => [index, documentId]),
      [
        [1, 'c'],
        [2, 'a'],
      ],
    )
  })
  test('that name no passage go, with the space before them, and at the start of a line with the one behind', () => {
    assert.equal(plain('x [7]. y [0]').markdown, 'x. y')
    assert.equal(plain('[7] x\n[8] y').markdown, 'x\ny')
  })
  test('of several numbers become marks of their own', () => {
    assert.equal(plain('x [2, 3, 9]').markdown, 'x [1][2]')
    assert.equal(plain('x [2] [3][2]').markdown, 'x [1][2]')
  })
  test('are not what stands in code, links and behind a backslash', () => {
    const text = '`a[1]` [2](http://x) \\[3]\n```\nb[1]\n```'
    assert.equal(plain(text).markdown, text)
    assert.deepEqual(plain(text).sources, [])
  })
  test('go, and are counted, where they name no passage', () => {
    const { markdown, citations } = cite('see [1] and [7]', [])
    assert.equal(markdown, 'see and')
    assert.deepEqual(citations, { supported: 0, unsupported: 2, unchecked: 0 })
  })
  test('have a verbatim snippet: the quote, else the sentence of the passage that says most of the statement', () => {
    const passage = 'Cats sleep. The warranty covers two years. Dogs bark.'
    assert.equal(cite('The warranty is two years [1]', [hit(passage)]).sources[0]!.snippet, 'The warranty covers two years.')
    const quoted = cite('x [1]', [hit(passage)], { quotes: new Map([[1, 'Cats sleep.']]) })
    assert.equal(quoted.sources[0]!.snippet, 'Cats sleep.')
    assert.ok(passage.includes(supportingText(passage, 'nothing in common')))
  })
})

describe('a mark stays', () => {
  for (const [about, text] of [
    ['what the passage says', 'The Aurora lamp has a warranty of two years [1].'],
    ['behind the full stop', 'The Aurora lamp has a warranty of two years. [1]'],
    ['in other words, for the most part', 'Your Aurora lamp comes with a two-year warranty [1].'],
    ['a number in figures that the passage spells out', 'The warranty of the Aurora lamp is 2 years [1].'],
    ['a number with another separator', 'The Aurora lamp weighs 1250 grams [1].'],
    ['hours after noon', 'The shop is open on Saturday from 10 to 16 [2].'],
    ['before the statement', 'According to [1], the Aurora lamp has a warranty of two years.'],
    ['on a line of its own below a list', '- Aurora lamp\n- warranty of two years\n\n[1]'],
  ] as const) {
    test(`behind ${about}`, () => {
      assert.equal(markdownOf(text), text.replace('[2]', '[1]'))
      assert.deepEqual(countsOf(text), [1, 0, 0])
    })
  }

  test('each behind its own part of one sentence', () => {
    const text = 'The Aurora lamp has a warranty of two years [1], and the shop is open on Saturday [2].'
    assert.equal(markdownOf(text), text)
  })
  test('where a number is the own of the user', () => {
    assert.deepEqual(
      countsOf('With 7 lamps, each Aurora lamp has a warranty of two years [1].', hits, 'I bought 7 lamps'),
      [1, 0, 0],
    )
  })
  test('unchecked, where there is hardly a word to check, or the reply is in another language', () => {
    assert.deepEqual(countsOf('Yes. [1]'), [0, 0, 1])
    const german = 'Für die Leuchte gilt eine Garantie von zwei Jahren, und sie wird in Norwegen hergestellt [1].'
    assert.equal(markdownOf(german), german)
    assert.deepEqual(countsOf(german), [0, 0, 1])
  })
  test('each number of a mark counts as one of them', () => {
    const text = 'The lamp is green [1,2,3,4]. '.repeat(200)
    const hits = Array.from({ length: 4 }, () => hit('The lamp is green.'))
    const { citations } = cite(text, hits)
    assert.deepEqual(citations, { supported: 500, unsupported: 300, unchecked: 0 })
  })

  test('a statement is held against a passage once, however often a growing reply is judged', () => {
    const claim = toClaim('The lamp is green.', 'en')
    let judged = 0
    const { numbers } = claim
    Object.defineProperty(claim, 'numbers', {
      get: () => {
        judged++
        return numbers
      },
    })
    const witness = new PassageChecker(hit('The lamp is green.'), '')
    for (let i = 0; i < 5; i++) assert.equal(witness.judge([claim]), 'supported')
    assert.equal(judged, 1)
  })

  test('up to 500 of them; each more is taken out', () => {
    const marked = cite('It is made in Bergen [1]. '.repeat(600), hits)
    assert.equal(marked.markdown.split('[1]').length - 1, 500)
    assert.deepEqual(marked.citations, { supported: 500, unsupported: 100, unchecked: 0 })
  })
  test('in scripts without spaces', () => {
    const text = '保修期为两年 [1]。'
    assert.equal(markdownOf(text, [hit('这款灯的保修期为两年，重量一千克。')]), text)
  })
})

describe('a mark goes', () => {
  for (const [about, text, left] of [
    ['what the passage does not say', 'The moon is made of green cheese [1].', 'The moon is made of green cheese.'],
    ['what another passage says', 'The shop is open on Saturday [1].', 'The shop is open on Saturday.'],
    ['another number', 'The Aurora lamp has a warranty of 5 years [1].', 'The Aurora lamp has a warranty of 5 years.'],
    ['another amount', 'The Aurora lamp weighs 1,350 grams [1].', 'The Aurora lamp weighs 1,350 grams.'],
    [
      'a number that contradicts in another language',
      'Die Leuchte hat 9 Jahre Garantie ab Kauf [1].',
      'Die Leuchte hat 9 Jahre Garantie ab Kauf.',
    ],
  ] as const) {
    test(`behind ${about}`, () => {
      assert.equal(markdownOf(text), left)
      assert.deepEqual(countsOf(text), [0, 1, 0])
    })
  }

  test('and the one beside it stays', () => {
    assert.equal(
      markdownOf('The Aurora lamp has a warranty of two years [2][1].'),
      'The Aurora lamp has a warranty of two years [1].',
    )
  })
})

test('a reply full of marks is checked to its end', () => {
  cite('[1]'.repeat(30_000), hits)
  cite('word [1] '.repeat(12_000), hits)
  cite(`${'lamp '.repeat(20_000)}[1]`.repeat(3), hits)
})

describe('a long reply', () => {
  const paragraph = (i: number) =>
    i % 7 === 3 ? 'The lamp is made of cheese and sold by the metre [1].' : 'The Aurora lamp has a warranty of two years [1].'
  const text = Array.from({ length: 60 }, (_, i) => paragraph(i)).join('\n\n')

  test('is checked as each of its paragraphs is', () => {
    const alone = Array.from({ length: 60 }, (_, i) => cite(paragraph(i), hits).citations)
    const { markdown, citations, sources } = cite(text, hits)
    for (const kind of ['supported', 'unsupported', 'unchecked'] as const)
      assert.equal(
        citations[kind],
        alone.reduce((sum, counts) => sum + counts[kind], 0),
        kind,
      )
    assert.equal(markdown.split('\n\n').length, 60)
    assert.deepEqual(
      sources.map(({ index }) => index),
      sources.map((_, i) => i + 1),
    )
  })

  test('keeps its code as it is, however long that is', () => {
    const code = `\`\`\`\n${'a[1] = b[2]\n\n'.repeat(1_000)}\`\`\`\n`
    const { markdown, citations } = cite(`${text}\n\n${code}\n${paragraph(3)}`, hits)
    assert.ok(markdown.includes(code))
    assert.equal(citations.unsupported, cite(text, hits).citations.unsupported + 1)
  })

  test('is the same whether it is checked as it grows or at once', () => {
    const citer = new Citer(hits)
    for (let end = 0; end < text.length; end += 37) citer.settle(text.slice(0, end))
    assert.equal(citer.settle(text), cite(text, hits).markdown)
  })

  test('is the same where it is read while it is checked', async () => {
    const citer = new Citer(hits)
    const steps = citer.steps(text)
    let cited = steps.next()
    for (let i = 0; !cited.done; i++) {
      if (i % 5 === 0) citer.settle(text)
      cited = steps.next()
    }
    assert.deepEqual(cited.value, cite(text, hits))
  })
})
