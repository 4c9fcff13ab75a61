import { spellingGrams, wordGrams } from '../text/ngrams.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import type { SegmentBuilder } from './knowledge-build.ts'
import { Bytes } from './knowledge-posting.ts'

/** Words longer than this are identifiers: nobody misspells them. */
const MAX_WORD = 40

/** In how many of the passages that were collected each word stands, and each 4-gram. */
export function countsOf(builder: SegmentBuilder): { words: Map<string, number>; grams: Map<string, number> } {
  const words = new Map<string, number>()
  const grams = new Map<string, number>()
  for (const [word, { packed, spaced }] of builder.lists.exact) {
    if (!spaced) continue
    if (word.length <= MAX_WORD) words.set(word, packed.length)
    for (const gram of wordGrams(word)) grams.set(gram, (grams.get(gram) ?? 0) + packed.length)
  }
  return { words, grams }
}

/** Counts the words of a segment's passages into the vocabulary, new ones with their spelling. In a transaction of the caller. */
export function addToVocabulary(base: KnowledgeBase, builder: SegmentBuilder): void {
  const { words, grams } = countsOf(builder)
  const holders = new Map<string, number[]>()
  const sorted = [...words.keys()].sort()
  const known = base.getMany(
    'UPDATE word SET df = df + ? WHERE word = ? RETURNING number',
    sorted.map((word) => [words.get(word)!, word]),
  )
  for (const [i, word] of sorted.entries()) {
    if (known[i] !== undefined) continue
    const number = base.run('INSERT INTO word (word, df) VALUES (?, ?)', word, words.get(word)!)
    for (const gram of spellingGrams(word)) {
      const numbers = holders.get(gram)
      if (numbers === undefined) holders.set(gram, [number])
      else numbers.push(number)
    }
  }
  appendSpelling(base, holders)
  for (const gram of [...grams.keys()].sort()) {
    base.run(
      'INSERT INTO gram (gram, n) VALUES (?, ?) ON CONFLICT (gram) DO UPDATE SET n = gram.n + excluded.n',
      gram,
      grams.get(gram)!,
    )
  }
  for (const [language, passages] of builder.languages) {
    base.run(
      'INSERT INTO language (code, passages) VALUES (?, ?) ON CONFLICT (code) DO UPDATE SET passages = language.passages + excluded.passages',
      language,
      passages,
    )
  }
}

const scratch = new Bytes()

/** Adds words to those that hold each of these 3-grams. */
function appendSpelling(base: KnowledgeBase, holders: ReadonlyMap<string, readonly number[]>): void {
  const rows = base.getMany<{ n: number; last: number; data: Uint8Array }>(
    'SELECT n, last, data FROM spelling WHERE gram = ?',
    [...holders.keys()].map((gram) => [gram]),
  )
  let i = 0
  for (const [gram, numbers] of holders) {
    const row = rows[i++]
    scratch.clear()
    if (row !== undefined) scratch.append(row.data)
    let last = row?.last ?? -1
    for (const number of numbers) {
      scratch.varint(number - last)
      last = number
    }
    base.run(
      `INSERT INTO spelling (gram, n, last, data) VALUES (?, ?, ?, ?)
       ON CONFLICT (gram) DO UPDATE SET n = excluded.n, last = excluded.last, data = excluded.data`,
      gram,
      (row?.n ?? 0) + numbers.length,
      last,
      scratch.view(),
    )
  }
}

/** Takes back what `addToVocabulary` counted for the same passages; a word whose last passage goes leaves no trace of its letters. */
export function takeFromVocabulary(base: KnowledgeBase, builder: SegmentBuilder): void {
  const { words, grams } = countsOf(builder)
  for (const [word, df] of words) {
    base.run('UPDATE word SET df = df - ? WHERE word = ?', df, word)
    base.run('DELETE FROM word WHERE word = ? AND df <= 0', word)
  }
  for (const [gram, n] of grams) {
    base.run('UPDATE gram SET n = n - ? WHERE gram = ?', n, gram)
    base.run('DELETE FROM gram WHERE gram = ? AND n <= 0', gram)
  }
  for (const [language, passages] of builder.languages) {
    base.run('UPDATE language SET passages = passages - ? WHERE code = ?', passages, language)
    base.run('DELETE FROM language WHERE code = ? AND passages <= 0', language)
  }
}
