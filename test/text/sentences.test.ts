import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sentences } from '../../src/text/sentences.ts'

const split = (text: string): string[] => sentences(text).map(({ start, end }) => text.slice(start, end))

describe('sentences', () => {
  test('a full stop behind an abbreviation, an initial or an ordinal does not end one', () => {
    assert.deepEqual(split('Dr. Smith met J. R. R. Tolkien in Oct. 1950, e.g. in Oxford. He left.'), [
      'Dr. Smith met J. R. R. Tolkien in Oct. 1950, e.g. in Oxford.',
      'He left.',
    ])
    assert.deepEqual(split('Im 19. Jahrhundert war das so. Heute nicht.'), ['Im 19. Jahrhundert war das so.', 'Heute nicht.'])
    assert.deepEqual(split('They came from the U.S. The rest stayed.'), ['They came from the U.S.', 'The rest stayed.'])
  })

  test('abbreviations of several words, and small letters behind a mark, read on', () => {
    const texts = [
      'Das geht z. B. mit einer Karte, i. d. R. sofort.',
      'Die Frist gilt d. h. bis Mai, u. a. für Kinder (engl. deadline).',
      'Se puede pagar con tarjeta, p. ej. Visa.',
      'Это можно сделать, т. е. включить.',
      'Tell the children!) before you go.',
    ]
    for (const text of texts) assert.deepEqual(split(text), [text])
    assert.deepEqual(split('ეს არის სახლი. ის დიდია.'), ['ეს არის სახლი.', 'ის დიდია.'])
  })

  test('marks in code, links, addresses and callouts end none', () => {
    const texts = [
      'Call `stop. Now!` and [read on](./X. Y.md) here.',
      'See https://a.example/x?Y=1 for all.',
      '[!DANGER] Do not do this.',
      'A picture ![Shown here] and text.',
    ]
    for (const text of texts) assert.deepEqual(split(text), [text])
    assert.deepEqual(split('See https://a.example/x. Then go.'), ['See https://a.example/x.', 'Then go.'])
  })

  test('scripts with other stops are split at those', () => {
    assert.deepEqual(split('他来了。她走了！「真的吗？」对。'), ['他来了。', '她走了！', '「真的吗？」', '对。'])
    assert.deepEqual(split('यह एक वाक्य है। यह दूसरा है।'), ['यह एक वाक्य है।', 'यह दूसरा है।'])
    assert.deepEqual(split('هل هذا صحيح؟ نعم.'), ['هل هذا صحيح؟', 'نعم.'])
  })

  test('Thai, which has no stops, is split at spaces once there is enough', () => {
    const clause = 'เขาเดินทางไปกรุงเทพมหานครเพื่อศึกษาต่อในมหาวิทยาลัย'
    assert.equal(split(Array(6).fill(clause).join(' ')).length, 2)
  })

  test('Thai reads on behind the stop of an abbreviation, and beside a number', () => {
    assert.deepEqual(split('เกิดวันที่ 15 ธันวาคม พ.ศ. 2487 ที่กรุงเทพ'), ['เกิดวันที่ 15 ธันวาคม พ.ศ. 2487 ที่กรุงเทพ'])
    const clause = 'เขาเดินทางไปกรุงเทพมหานครเพื่อศึกษาต่อในมหาวิทยาลัย'
    const long = clause.repeat(3)
    assert.deepEqual(split(`${long} 1855 ปี ${clause}`), [`${long} 1855 ปี`, clause])
  })

  test('wrapped lines read on; a short line and a blank one end a sentence', () => {
    assert.deepEqual(split('This line was wrapped by someone at about sixty columns\nand reads on. Next.\n\nName: X\nPlace: Y'), [
      'This line was wrapped by someone at about sixty columns\nand reads on.',
      'Next.',
      'Name: X',
      'Place: Y',
    ])
  })

  test('nothing but white space lies between them', () => {
    const text = '  One. Two!   “Three?” 四。\n\nfive … six\t7. A. B. c '
    const rest = sentences(text).reduceRight((left, { start, end }) => left.slice(0, start) + left.slice(end), text)
    assert.equal(rest.trim(), '')
  })

  test('a megabyte of one word, of stops, or of line ends is read to its end', () => {
    for (const text of ['x'.repeat(1e6), '.'.repeat(1e6), 'A. '.repeat(2e5), '\n'.repeat(1e6), '( '.repeat(5e5)]) sentences(text)
  })
})
