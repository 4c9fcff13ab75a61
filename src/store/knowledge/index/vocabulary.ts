import { GramCounts, spellingGrams } from '../../../text/ngrams.ts'
import type { KnowledgeBase } from '../base.ts'
import type { Insertion } from '../statements.ts'
import type { SegmentBuilder } from './build.ts'
import { Bytes } from './posting.ts'

const WORD: Insertion = { into: 'word', columns: ['word', 'df'] }
const GRAM: Insertion = {
  into: 'gram',
  columns: ['gram', 'n'],
  onConflict: { key: ['gram'], set: 'n = gram.n + excluded.n' },
}
const LANGUAGE: Insertion = {
  into: 'language',
  columns: ['code', 'passages'],
  onConflict: { key: ['code'], set: 'passages = language.passages + excluded.passages' },
}
const SPELLING: Insertion = {
  into: 'spelling',
  columns: ['gram', 'n', 'last', 'data'],
  onConflict: { key: ['gram'], set: 'n = excluded.n, last = excluded.last, data = excluded.data' },
}

/** Longer words are identifiers, which people do not misspell. */
const MAX_WORD = 40

/** Returns the number of collected passages that contain each word, and each 4-gram. */
export function countsOf(builder: SegmentBuilder): { words: [string, number][]; grams: [string, number][] } {
  const { exact } = builder.lists
  const { numbers, starts } = exact.byTerm()
  const words: [string, number][] = []
  const grams = new GramCounts()
  for (const n of numbers) {
    if (!builder.spaced[n]) continue
    const word = exact.terms[n]!
    const df = starts[n + 1]! - starts[n]!
    if (word.length <= MAX_WORD) words.push([word, df])
    grams.add(word, df)
  }
  return { words, grams: grams.inOrder() }
}

/** Adds the words of a segment's passages to the vocabulary, new words with their spelling. Runs in the caller's transaction. */
export function addToVocabulary(base: KnowledgeBase, builder: SegmentBuilder): void {
  const { words, grams } = countsOf(builder)
  const known = base.getMany<{ number: number }>(
    'SELECT number FROM {word} WHERE word = ?',
    words.map(([word]) => [word]),
  )
  for (const [i, [, df]] of words.entries())
    if (known[i] !== undefined) base.update('word', { set: 'df = df + ?', where: 'number = ?' }, df, known[i].number)
  addWords(
    base,
    words.filter((_, i) => known[i] === undefined),
  )
  base.insertMany(GRAM, grams)
  for (const [language, passages] of builder.languages) {
    base.insert(LANGUAGE, language, passages)
  }
}

function addWords(base: KnowledgeBase, words: [string, number][]): void {
  const first = base.insertMany(WORD, words) - words.length + 1
  const holders = new Map<string, number[]>()
  for (const [i, [word]] of words.entries()) {
    for (const gram of spellingGrams(word)) {
      const numbers = holders.get(gram)
      if (numbers === undefined) holders.set(gram, [first + i])
      else numbers.push(first + i)
    }
  }
  appendSpelling(base, holders)
}

const scratch = new Bytes()

/** Appends word numbers to the spelling lists of these 3-grams. */
function appendSpelling(base: KnowledgeBase, holders: ReadonlyMap<string, readonly number[]>): void {
  const rows = base.getMany<{ n: number; last: number; data: Uint8Array }>(
    'SELECT n, last, data FROM {spelling} WHERE gram = ?',
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
    base.insert(SPELLING, gram, (row?.n ?? 0) + numbers.length, last, scratch.view())
  }
}

/** Reverts `addToVocabulary` for the same passages. Deletes words without passages, so that no trace of their letters stays. */
export function takeFromVocabulary(base: KnowledgeBase, builder: SegmentBuilder): void {
  const { words, grams } = countsOf(builder)
  for (const [word, df] of words) {
    base.update('word', { set: 'df = df - ?', where: 'word = ?' }, df, word)
    base.delete('word', 'word = ? AND df <= 0', word)
  }
  for (const [gram, n] of grams) {
    base.update('gram', { set: 'n = n - ?', where: 'gram = ?' }, n, gram)
    base.delete('gram', 'gram = ? AND n <= 0', gram)
  }
  for (const [language, passages] of builder.languages) {
    base.update('language', { set: 'passages = passages - ?', where: 'code = ?' }, passages, language)
    base.delete('language', 'code = ? AND passages <= 0', language)
  }
}
