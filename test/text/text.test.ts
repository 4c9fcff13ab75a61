import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { analyse, contentStems, detectLanguage, gramHashes } from '../../src/text/analyse.ts'
import { normalize } from '../../src/text/fold.ts'
import { GramCounts, hashOf, runGrams, spellingGrams, wordGrams } from '../../src/text/ngrams.ts'

const exact = (text: string): string[] => analyse(text).tokens.flatMap((token) => (token.exact === '' ? [] : [token.exact]))

describe('analysis of a text', () => {
  test('words are folded: case, width, ligatures and diacritics', () => {
    assert.deepEqual(exact('Café ＡＢＣ ﬁne Straße'), ['cafe', 'abc', 'fine', 'strasse'])
  })

  test('every token says where it stands in the text as given', () => {
    const text = 'Ｗide “quotes”, naïve—dashes; 東京タワー and ประเทศไทย'
    for (const { start, end } of analyse(text).tokens) assert.match(text.slice(start, end), /^[\p{L}\p{N}\p{M}]+$/u)
    const naive = analyse(text).tokens.find((token) => token.exact === 'naive')!
    assert.equal(text.slice(naive.start, naive.end), 'naïve')
  })

  test('a letter and its marks are one word, composed or not', () => {
    const text = 'Tiếng Việt được ghi bằng chữ Quốc ngữ'
    assert.deepEqual(exact(text.normalize('NFD')), exact(text))
  })

  test('inflections share a stem, in the language of the text', () => {
    assert.deepEqual(
      contentStems(analyse('running quickly', 'en')),
      contentStems(analyse('runs quick', 'en')).map((stem, i) => (i === 1 ? 'quickli' : stem)),
    )
    assert.deepEqual(contentStems(analyse('Häuser', 'de')), contentStems(analyse('Haus', 'de')))
    assert.deepEqual(contentStems(analyse('книги', 'ru')), contentStems(analyse('книга', 'ru')))
  })

  test('the possessive is no word', () => {
    assert.deepEqual(exact("Newton's and Hooke’s laws"), ['newton', 'and', 'hooke', 'laws'])
  })

  test('stop words are marked, and kept where there is nothing else', () => {
    assert.deepEqual(contentStems(analyse('what is the speed of light')), ['speed', 'light'])
    assert.equal(contentStems(analyse('to be or not to be')).length, 6)
  })

  test('a run of mixed scripts falls apart where the script changes', () => {
    const words = exact('2010年発売')
    assert.ok(words.includes('2010'))
    assert.ok(words.includes('発売'))
  })

  test('Hindi keeps its marks', () => {
    assert.deepEqual(exact('किताबें हैं'), ['किताबें', 'हैं'])
  })

  test('Han gives pairs and words, Thai gives words', () => {
    const stems = analyse('東京大学').tokens.map((token) => token.stem)
    for (const stem of ['東京', '京大', '大学']) assert.ok(stems.includes(stem))
    assert.ok(exact('ประเทศไทยมีประชากร').includes('ประชากร'))
  })

  test('the language is told by script and by a vote of the words', () => {
    const texts = {
      en: 'Where was the king born?',
      de: 'Wann wurde der König geboren?',
      es: '¿Cuándo nació el rey de España?',
      fr: 'Quand est né le roi de France ?',
      ro: 'Când s-a născut regele și unde?',
      tr: 'Kral ne zaman doğdu?',
      vi: 'Vua sinh ra ở đâu?',
      ru: 'Когда родился король?',
      uk: 'Коли народився король і де він жив?',
      el: 'Πότε γεννήθηκε ο βασιλιάς;',
      ar: 'متى ولد الملك؟',
      hi: 'राजा का जन्म कब हुआ था?',
      zh: '国王是什么时候出生的？',
      ja: '王様はいつ生まれましたか',
      th: 'กษัตริย์ประสูติเมื่อใด',
      ko: '왕은 언제 태어났습니까?',
    }
    for (const [language, text] of Object.entries(texts)) assert.equal(detectLanguage(text), language, text)
  })

  test('a question is taken to be in a language that the base holds', () => {
    assert.equal(detectLanguage('a la carte', ['en']), 'en')
    assert.equal(detectLanguage('كتاب', ['en']), 'ar')
  })

  test('nothing comes of nothing, and odd text does no harm', () => {
    for (const text of ['', ' \n', '!?', '\ud800', '👍🏽', '́', 'a'.repeat(100_000), '𠮷野家𠮷', '𝒳'.repeat(200)]) {
      for (const { stem } of analyse(text).tokens) assert.notEqual(stem, '')
      assert.ok(gramHashes(text) instanceof Uint16Array)
    }
  })
})

describe('n-grams', () => {
  test('of a word are of four letters, with marks at its ends', () => {
    assert.deepEqual(wordGrams('word'), ['^wor', 'word', 'ord$'])
    assert.deepEqual(wordGrams('a'), ['^a$'])
  })

  test('n-grams of many words are counted as those of each, in any script, and told in order', () => {
    const words = ['word', 'words', 'a', 'ab', '7', '2010', 'слово', 'αbcde', 'bcdef', '𝒜bcde']
    const counted = new GramCounts()
    const expected = new Map<string, number>()
    for (const [i, word] of words.entries()) {
      counted.add(word, i + 1)
      for (const gram of wordGrams(word)) expected.set(gram, (expected.get(gram) ?? 0) + i + 1)
    }
    assert.deepEqual(
      counted.inOrder(),
      [...expected].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
  })

  test('of a text are hashed as those of its words are, plain or not', () => {
    const text = `The BLUE kettle's 2-year warranty: Café x ab abc ${'x'.repeat(100)} Straße`
    const grams = exact(text).flatMap(wordGrams)
    assert.deepEqual([...gramHashes(text)], grams.map(hashOf))
  })

  test('of a run are of one to three characters, never cut inside one', () => {
    assert.deepEqual(runGrams({ text: '𠮷野', han: true }), ['𠮷', '野', '𠮷野'])
    assert.deepEqual(runGrams({ text: 'ไทยม', han: false }), ['ไทย', 'ทยม', 'ไทยม'])
  })

  test('for spelling are told once each', () => {
    assert.deepEqual(spellingGrams('aaaa'), ['^aa', 'aaa', 'aa$'])
  })
})

test('long runs of letters are not remembered', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const heapMb = () => {
    collect()
    return process.memoryUsage().heapUsed / 1_048_576
  }
  const before = heapMb()
  for (let i = 0; i < 10_000; i++) contentStems(analyse(`a ${'é'.repeat(3_000)}${i} word`))
  const grown = heapMb() - before
  assert.ok(grown < 20, `${grown} MB for 10,000 runs of 3,000 letters`)
})

test('a character has at most 30 marks in a normalised text, and all that writing needs', () => {
  const MARKS = ['\u0323\u0301', '\uff9e\u0301', '\u05b0\u05c1']
  for (const marks of MARKS)
    for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
      const plain = normalize(`a${marks.repeat(16_000)}b ${marks.repeat(16_000)}c`, form)
      assert.ok(plain.length < 70, `${plain.length} characters in ${form}`)
      assert.ok(plain.endsWith('c'))
    }
  const writing = `${'Tiếng Việt '.repeat(200)}${'a\u0323\u0301'.repeat(200)}`
  assert.equal(normalize(writing), writing.normalize('NFC'))
})
