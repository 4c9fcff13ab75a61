import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { repair } from '../../src/knowledge/query/spelling.ts'
import type { KnowledgeBase } from '../../src/store/knowledge/base.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { addToBatch, newBatch, writeBatch } from '../../src/store/knowledge/index/index.ts'
import { numbersOf } from '../../src/store/knowledge/index/posting.ts'
import { CacheBudget } from '../../src/store/knowledge/reader/cache.ts'
import { KnowledgeIndex } from '../../src/store/knowledge/reader/knowledge-index.ts'
import { type SimilarTo, type SimilarWords, Vocabulary, wordsOf } from '../../src/store/knowledge/reader/vocabulary.ts'
import { drive } from '../../src/store/knowledge/work.ts'
import { spellingGrams } from '../../src/text/ngrams.ts'
import { inTurns } from '../support/in-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-vocabulary-'))
after(() => rmSync(folder, { recursive: true }))

function baseOf(name: string, texts: readonly string[]): KnowledgeFile {
  const file = KnowledgeFile.openToWrite(join(folder, name))
  const batch = newBatch()
  for (const [position, text] of texts.entries())
    addToBatch(batch, { title: '', heading: '', text, document: 1, position, page: null })
  file.write(() => writeBatch(file, batch))
  return file
}

/** Numbered words that nobody looks for. */
const addWords = (file: KnowledgeFile, count: number) =>
  file.run(
    `WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO word (word, df) SELECT 'x' || i, 1 FROM n`,
    count,
  )

/** Looks at every word of the lists, and sorts all of them. */
function similarByAll(base: KnowledgeBase, word: string, leastShared: number, leastDice: number, most: number) {
  const grams = spellingGrams(word)
  const lists = grams
    .map((gram) => base.get<{ n: number; data: Uint8Array }>('SELECT n, data FROM spelling WHERE gram = ?', gram))
    .filter((list) => list !== undefined)
    .sort((a, b) => a.n - b.n)
  const shared = new Map<number, number>()
  for (const { data } of lists) for (const number of numbersOf(data, 0)) shared.set(number, (shared.get(number) ?? 0) + 1)
  return [...shared]
    .flatMap(([number, common]) => {
      const row = base.get<{ word: string; df: number }>('SELECT word, df FROM word WHERE number = ?', number)
      const dice = (2 * common) / (grams.length + (row?.word.length ?? 0))
      return row === undefined || common < leastShared || dice < leastDice ? [] : [{ ...row, dice }]
    })
    .sort((a, b) => b.dice - a.dice)
    .slice(0, most)
}

function similarIn(file: KnowledgeFile, vocabulary: Vocabulary, asked: SimilarTo): SimilarWords {
  const lists = drive(file, vocabulary.lists([asked.word]))
  return drive(file, wordsOf(vocabulary.count([asked], lists, 1)))[0]!
}

describe('words that are spelt alike', () => {
  const docs = new URL('../../docs/', import.meta.url)
  const texts = readdirSync(docs)
    .filter((name) => name.endsWith('.md'))
    .map((name) => readFileSync(new URL(name, docs), 'utf8'))

  test('are the same as those found by a look at all words', () => {
    const file = baseOf('alike.db', texts)
    const vocabulary = new Vocabulary()
    const words = file
      .all<{ word: string }>('SELECT word FROM word WHERE length(word) > 3 AND number % 9 = 0')
      .map(({ word }) => word)
    assert.ok(words.length > 200, `${words.length} words`)
    for (const [i, word] of words.entries()) {
      const at = i % word.length
      for (const asked of [word, `${word.slice(0, at)}e${word.slice(at + 1)}`, word.slice(0, at) + word.slice(at + 1)])
        for (const [least, dice, most] of [
          [Math.ceil(asked.length / 4), 0.4, 9],
          [Math.max(1, asked.length - 4), 0.2, 60],
        ] as const)
          assert.deepEqual(
            similarIn(file, vocabulary, { word: asked, leastShared: least, leastDice: dice, most }).words,
            similarByAll(file, asked, least, dice, most),
            asked,
          )
    }
    file.close()
  })

  test('are looked up over many turns in a vocabulary of millions, and for some words of a question only', () => {
    const file = baseOf('hostile.db', ['nothing'])
    addWords(file, 150_000)
    const letters = [...'^aeo$']
    for (const a of letters)
      for (const b of letters)
        for (const c of letters)
          file.run(
            'INSERT INTO spelling (gram, n, last, data) VALUES (?, 150000, 150000, ?)',
            a + b + c,
            new Uint8Array(150_000).fill(1),
          )
    let asked = 0
    const index = new KnowledgeIndex(file)
    const count = index.caches.vocabulary.count.bind(index.caches.vocabulary)
    index.caches.vocabulary.count = (some, ...more) => {
      asked += some.length
      return count(some, ...more)
    }
    const words = Array.from({ length: 133 }, (_, i) =>
      i
        .toString(3)
        .padStart(14, '0')
        .replace(/\d/g, (n) => 'aeo'[Number(n)]!),
    )
    let most = 0
    const { turns } = inTurns(() => {
      const before = asked
      try {
        index.read((read) => repair(read, words), words)
      } finally {
        most = Math.max(most, asked - before)
      }
    })
    assert.ok(turns > 5, `${turns} turns`)
    assert.ok(most <= 5, `${most} words in one turn`)
    assert.ok(asked < 80, `${asked} words`)
    file.close()
  })

  test('are remembered as long as there is memory for them, which bases share', () => {
    const budget = new CacheBudget(100_000)
    const words = Array.from({ length: 60 }, (_, i) => `lan${String.fromCharCode(97 + (i % 26), 97 + (i >> 1))}terns`)
    const files = ['one.db', 'two.db'].map((name) => baseOf(name, words))
    const indexes = files.map((file) => new KnowledgeIndex(file, budget))
    const looked = files.map(() => 0)
    const look = (at: number, word: string) => {
      const index = indexes[at]!
      const count = index.caches.vocabulary.count.bind(index.caches.vocabulary)
      index.caches.vocabulary.count = (...asked) => {
        looked[at]!++
        return count(...asked)
      }
      const [found] = index.read((read) => read.similar([{ word, leastShared: 1, leastDice: 0.2, most: 60 }]))
      index.caches.vocabulary.count = count
      return found!.length
    }
    assert.ok(look(0, 'lantern0') > 40)
    look(0, 'lantern0')
    assert.deepEqual(looked, [1, 0])
    for (let i = 0; i < 30; i++) look(1, `lantern${i}`)
    look(0, 'lantern0')
    look(1, 'lantern29')
    assert.deepEqual(looked, [2, 30])
    for (const index of indexes) index.close()
  })

  test('are not looked for by 3-grams that hundreds of thousands of words hold', () => {
    const file = baseOf('common.db', ['lanterns'])
    const row = file.get<{ data: Uint8Array }>("SELECT data FROM spelling WHERE gram = 'ter'")!
    for (const gram of ['ter', '^la', 'lan'])
      file.run(
        'UPDATE spelling SET n = 200001, data = ? WHERE gram = ?',
        new Uint8Array([...row.data, ...new Uint8Array(200_000).fill(1)]),
        gram,
      )
    const asked = { word: 'lantenns', leastShared: 1, leastDice: 0.2, most: 9 }
    const { words, entries } = similarIn(file, new Vocabulary(), asked)
    assert.deepEqual([words.map(({ word }) => word), entries], [['lanterns'], 3])
    file.close()
  })
})

describe('the lengths of words', () => {
  test('of a large vocabulary are read in pages, and others have a turn in between', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'large.db'))
    addWords(file, 250_000)
    const batch = newBatch()
    addToBatch(batch, { title: '', heading: '', text: 'lanterns', document: 1, position: 0, page: null })
    file.write(() => writeBatch(file, batch))
    let pages = 0
    const all = file.all.bind(file)
    file.all = (sql, ...params) => {
      if (sql.includes('string_agg')) pages++
      return all(sql, ...params)
    }
    const index = new KnowledgeIndex(file)
    const { result, turns } = inTurns(() => index.read((read) => repair(read, ['lanterms'])))
    assert.deepEqual(
      result.get('lanterms')!.map(({ word }) => word),
      ['lanterns'],
    )
    assert.deepEqual([pages, turns], [3, 3])
    file.close()
  })
})
