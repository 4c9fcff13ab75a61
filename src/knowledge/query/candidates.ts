import { accumulate } from '../../store/knowledge/index/posting.ts'
import type { KnowledgeIndex, TermLists } from '../../store/knowledge/reader.ts'
import { idfOf } from './idf.ts'
import type { SearchTerms } from './search-terms.ts'
import { topSlots } from './top-slots.ts'

/** Weights of the kinds of match; a stem has weight 1. */
const EXACT = 0.2
const TITLE = 0.6
export const GRAMS = 0.2
/** Least Dice similarity, and most similar words of the base per question word. Similar words help to choose candidates. */
const LEAST_ALIKE = 0.4
const MOST_ALIKE = 8
/** Most question words for which similar words are searched. */
const MOST_WITH_ALIKE = 32
const LEAST_ALIKE_LETTERS = 3
/** Most passages added because their title and heading match the subject of the question. */
const MOST_NAMED = 20
/** Reading this many index entries takes about 20 ms. Questions of ordinary words mostly need fewer, up to a million passages. */
const MOST_ENTRIES = 2_000_000
/** Weight per letter: a long word is more specific. Lower for Latin script, with its letter cases and short inflections: the stem covers part of that. */
const LONG_WORD = { latin: 0.2, other: 0.5 }

export interface PassageCandidate {
  slot: number
  /** BM25 of stems, words and title: part of the score. */
  core: number
  /** Score of similarly spelled words and of n-grams of scripts without spaces: only used to choose candidates. */
  extra: number
  /** True if it was found because its title and heading name the subject of the question; see `SearchTerms.named`. */
  isNamed: boolean
}

// Scores by slot, shared in turn by all bases of this thread. They grow to the largest base, and are zero between questions.
let core = new Float32Array(0)
let extra = new Float32Array(0)

/** A key of the index, and the function that scores its lists. */
interface Step {
  key: string
  add: (lists: TermLists) => void
}

/**
 * Returns the best passages by the index lists alone, best first. Uses the shortest lists, up to `mostEntries` entries together: terms in most passages
 * hardly distinguish them, and each entry takes 10 ns in which other questions wait.
 */
export function findCandidates(
  index: KnowledgeIndex,
  terms: SearchTerms,
  most: number,
  hidden: Uint8Array | undefined,
  mostEntries = MOST_ENTRIES,
): PassageCandidate[] {
  const steps = withinEntries(index, stepsOf(index, terms), mostEntries)
  if (core.length < index.slots) {
    core = new Float32Array(index.slots)
    extra = new Float32Array(index.slots)
  }
  try {
    const named = namedSlots(index, terms.named, hidden)
    for (const { key, add } of steps) add(index.lists(key))
    const slots = new Set([...topSlots(core, extra, index.slots, most, hidden), ...named])
    return [...slots].map((slot) => ({ slot, core: core[slot]!, extra: extra[slot]!, isNamed: named.has(slot) }))
  } finally {
    core.fill(0, 0, index.slots)
    extra.fill(0, 0, index.slots)
  }
}

/** Returns the passages whose title and heading contain the stems and hardly anything else. */
function namedSlots(index: KnowledgeIndex, stems: readonly string[], hidden: Uint8Array | undefined): ReadonlySet<number> {
  if (stems.length === 0) return new Set()
  for (const stem of stems) for (const { posting, offset } of index.lists(`t${stem}`).parts) accumulate(posting, 1, core, offset)
  const slots = topSlots(core, extra, index.slots, MOST_NAMED, hidden)
  core.fill(0, 0, index.slots)
  return new Set(slots)
}

function stepsOf(index: KnowledgeIndex, terms: SearchTerms): Step[] {
  const steps: Step[] = []
  for (const [stem, weight] of terms.stems) {
    steps.push({ key: `s${stem}`, add: (lists) => spread(index, lists, weight, core) })
    steps.push({ key: `t${stem}`, add: (lists) => spread(index, lists, TITLE * weight, core) })
  }
  let words = 0
  for (const [word, weight] of terms.exact) {
    steps.push({ key: `e${word}`, add: (lists) => spreadExact(index, word, lists, weight) })
    if (words++ < MOST_WITH_ALIKE && word.length >= LEAST_ALIKE_LETTERS) steps.push(...stepsOfAlike(index, word, weight))
  }
  for (const [piece, weight] of terms.pieces)
    steps.push({ key: `u${piece}`, add: (lists) => spread(index, lists, GRAMS * weight, extra) })
  return steps
}

/** Leaves out the longest lists, and preserves the order. */
function withinEntries(index: KnowledgeIndex, steps: Step[], most: number): Step[] {
  const counted = steps.map((step) => ({ step, df: index.frequency(step.key) }))
  if (counted.reduce((sum, { df }) => sum + df, 0) <= most) return steps
  const kept = new Set<Step>()
  let sum = 0
  for (const { step, df } of counted.sort((a, b) => a.df - b.df)) {
    sum += df
    if (sum > most && sum > df) break
    kept.add(step)
  }
  return steps.filter((step) => kept.has(step))
}

function spread(index: KnowledgeIndex, lists: TermLists, weight: number, slots: Float32Array): void {
  const rare = weight * idfOf(index.slots, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, slots, offset)
}

function spreadExact(index: KnowledgeIndex, word: string, lists: TermLists, weight: number): void {
  if (word.length < LEAST_ALIKE_LETTERS) {
    spread(index, lists, EXACT * weight, core)
    return
  }
  const rare = EXACT * weight * idfOf(index.slots, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, core, offset, extra, longOf(word))
}

function stepsOfAlike(index: KnowledgeIndex, word: string, weight: number): Step[] {
  const alike = index.similar(word, Math.ceil(word.length / 4), LEAST_ALIKE, MOST_ALIKE + 1) ?? []
  return alike
    .filter((other) => other.word !== word)
    .map((other) => ({
      key: `e${other.word}`,
      add: (lists) => {
        // A rare similar word must not count more than the word itself.
        const held = Math.min(1, idfOf(index.slots, index.frequency(`e${word}`)) / idfOf(index.slots, lists.df))
        spread(index, lists, EXACT * weight * other.dice * held * longOf(word), extra)
      },
    }))
}

const longOf = (word: string): number => (/^[a-z0-9]+$/.test(word) ? LONG_WORD.latin : LONG_WORD.other) * (word.length - 2)
