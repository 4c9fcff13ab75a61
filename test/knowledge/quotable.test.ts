import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startsAbruptly } from '../../src/knowledge/answer/abrupt.ts'
import type { AnswerType } from '../../src/knowledge/answer/answer-types.ts'
import { quotable, sectionOf, widthOf } from '../../src/knowledge/answer/quotable.ts'
import { unitsOf } from '../../src/knowledge/answer/units.ts'

/** Makes a section too long to be quoted whole. */
const tail = `End. ${'And so it goes on, for longer than anybody cares to read. '.repeat(15)}`
const long = 'Much is to be said of it in words that go on and on until there is no end. '

for (const [about, text, answer, type, quoted] of [
  [
    'a short section whole',
    '# Lamps\n\nLamps are red.\n\n- They blink.\n\nThey hum.\n\n# Bells\n\nBells ring.',
    'They blink.',
    undefined,
    'Lamps are red.\n\n- They blink.\n\nThey hum.',
  ],
  [
    'of a long section the blocks after the answer that fit',
    `# Lamps\n\nLamps are red. They blink.\n\nThey hum.\n\nMost of them:\n\n- glow\n- hum\n\n${tail}`,
    'They blink.',
    undefined,
    'Lamps are red. They blink.\n\nThey hum.\n\nMost of them:\n\n- glow\n- hum',
  ],
  [
    'the paragraph of a sentence',
    `# Lamps\n\nLamps are red. They blink.\n\n${tail}`,
    'They blink.',
    undefined,
    'Lamps are red. They blink.',
  ],
  ['a sentence of running text alone', 'Lamps are red. They blink.', 'Lamps are red.', undefined, 'Lamps are red.'],
  [
    'of a long paragraph what follows, and what its beginning points to',
    `# Lamps\n\nLamps are red. This is why. ${long.repeat(12)}\n\n${tail}`,
    'This is why.',
    undefined,
    `Lamps are red. This is why. ${long.repeat(5).trim()}`,
  ],
  [
    'a lead with its list',
    `# Lamps\n\nThere are two:\n\n- red\n- green\n\n${tail}`,
    'There are two:',
    undefined,
    'There are two:\n\n- red\n- green',
  ],
  [
    'an item with its short list',
    `# Lamps\n\nThere are two:\n\n- red\n- green\n\n${tail}`,
    'green',
    undefined,
    'There are two:\n\n- red\n- green',
  ],
  [
    'an item of a long list alone',
    `# Lamps\n\nThere are many:\n\n- red\n${`- ${long.slice(0, 60)}\n`.repeat(9)}\n\n${tail}`,
    'red',
    undefined,
    'red',
  ],
  ['steps together', `# Lamps\n\n1. Open it.\n2. Close it.\n\n${tail}`, 'Open it.', 'how', '1. Open it.\n2. Close it.'],
  [
    'code with its sentence',
    `# Lamps\n\nRun this.\n\n\`\`\`\nlamp\n\`\`\`\n\n${tail}`,
    '```\nlamp\n```',
    undefined,
    'Run this.\n\n```\nlamp\n```',
  ],
  [
    'nothing that leads up to a picture, which is gone',
    '# Lamps\n\nLamps are red.\n\nThis is how they look:\n\n# Bells\n\nBells ring.',
    'Lamps are red.',
    undefined,
    'Lamps are red.',
  ],
  [
    'of a text without spaces a third',
    `# 灯\n\n${'灯は赤い。'.repeat(20)}\n\n${'灯は青い。'.repeat(60)}\n\n灯は緑だ。`,
    '灯は緑だ。',
    undefined,
    '灯は緑だ。',
  ],
  [
    'a row with its table',
    '# Lamps\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |',
    '| 3 | 4 |',
    undefined,
    '| a | b |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |',
  ],
] as [string, string, string, AnswerType | undefined, string][])
  test(`is quoted: ${about}`, () => {
    const units = unitsOf(text)
    const at = units.findIndex(({ start, end }) => text.slice(start, end) === answer)
    assert.ok(at >= 0, JSON.stringify(units.map(({ start, end }) => text.slice(start, end))))
    const { start, end } = quotable(text, units, at, type, 0)
    assert.equal(text.slice(start, end), quoted)
  })

for (const [about, text, answer, quoted] of [
  [
    'with the sentence that answers',
    'Lamps were made of brass for a long time. They blink when it rains. Most of them hum.',
    'Most of them hum.',
    'Most of them hum.',
  ],
  [
    'with what its first word points to',
    'Nobody knows who made the first one, or where it was. Lamps are red. They blink.',
    'They blink.',
    'Lamps are red. They blink.',
  ],
  [
    'with what leads up to a list',
    'Nobody knows who made the first one, or where it was.\n\nThere are two:\n\n- red\n- green',
    'green',
    'There are two:\n\n- red\n- green',
  ],
  [
    'with its opening, if that is short',
    'Lamps are red. Most of them hum.',
    'Most of them hum.',
    'Lamps are red. Most of them hum.',
  ],
] as const)
  test(`a quote of a short section begins ${about}`, () => {
    const section = `# Lamps\n\n${text}\n\nThat is all.`
    const units = unitsOf(section)
    const at = units.findIndex(({ start, end }) => section.slice(start, end) === answer)
    const { start, end } = quotable(section, units, at, undefined, at)
    assert.equal(section.slice(start, end), `${quoted}\n\nThat is all.`)
  })

test('a character of Chinese, Japanese or Korean counts more', () => {
  assert.equal(widthOf('Lamps are red.'), 1)
  assert.equal(widthOf('灯は赤い'), 2.5)
  assert.equal(widthOf(''), 1)
})

test('a quote is abrupt that begins with code, a row, an item, or a word that refers to what is before it', () => {
  for (const quote of [
    '```\nlamp\n```',
    '| a | b |',
    '- Open it.',
    '2. Close it.',
    'This means that it is red.',
    '**However**, it is red.',
    '"It" is red.',
    'Dann leuchtet sie.',
    'Cela veut dire rouge.',
    'Por ejemplo, rojo.',
    'これは赤い。',
  ])
    assert.ok(startsAbruptly(quote), quote)
  for (const quote of [
    'Lamps are red.',
    'It is possible to turn it off.',
    'Il est possible de le faire.',
    'Es gibt rote.',
    'Items are red.',
    '5 lamps are red.',
    '赤い灯です。',
    '',
  ])
    assert.ok(!startsAbruptly(quote), quote)
})

test('a section is named by the title and the heading above the place, as plain text', () => {
  const text = 'One.\n\n## The `run` [command](https://a.example) ##\n\nTwo.'
  const hit = { title: 'Guide', heading: 'Guide › *First* steps', text }
  assert.equal(sectionOf(hit, 0), 'Guide › First steps')
  assert.equal(sectionOf(hit, text.indexOf('Two')), 'Guide › The run command')
  assert.equal(sectionOf({ ...hit, heading: 'Guide' }, 0), 'Guide')
  assert.equal(sectionOf({ ...hit, title: 'Guide - The site' }, 0), 'Guide › First steps')
  assert.equal(sectionOf({ ...hit, title: '', heading: '429 quota_exceeded' }, 0), '429 quota_exceeded')
  assert.equal(sectionOf({ ...hit, title: '' }, 0), 'First steps')
  assert.equal(sectionOf({ ...hit, title: 'T'.repeat(90), heading: 'Long name' }, 0), 'Long name')
})
