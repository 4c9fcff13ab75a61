import { accumulate } from '../../store/knowledge/index/posting.ts'
import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { TermLists } from '../../store/knowledge/reader/term-lists.ts'
import type { SimilarWord } from '../../store/knowledge/reader/vocabulary.ts'
import type { Work } from '../../store/knowledge/work.ts'
import { idfOf } from './idf.ts'
import type { SearchTerms } from './search-terms.ts'
import { alikeOf, keysOf, LEAST_ALIKE_LETTERS } from './term-keys.ts'
import { topSlots } from './top-slots.ts'

/** Weights of the kinds of match; a stem has weight 1. */
const EXACT = 0.2
const TITLE = 0.6
export const GRAMS = 0.2
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
export function* findCandidates(
  read: IndexRead,
  terms: SearchTerms,
  most: number,
  hidden: Uint8Array | undefined,
  mostEntries = MOST_ENTRIES,
): Work<PassageCandidate[]> {
  const [alike] = yield* read.together(alikeOf(read, [...terms.exact.keys()]), guess(read, terms, hidden))
  const all = toSteps(read, terms, alike)
  const named = terms.named.map((stem) => `t${stem}`)
  yield* read.load([...named, ...all.map(({ key }) => key)])
  const steps = withinEntries(read, all, mostEntries)
  yield* read.loadLists([...named, ...steps.map(({ key }) => key)])
  return bestOf(read, { named, steps }, most, hidden)
}

/** Passages looked at early. They contain nearly always the ones that are rescored. */
const GUESSED = 60

/** If it saves a round trip: loads the sketches of the passages that are best without the similar words. */
function* guess(read: IndexRead, terms: SearchTerms, hidden: Uint8Array | undefined): Work<void> {
  if (!read.isRemote) return
  yield* read.load(keysOf(terms))
  const steps = withinEntries(read, toSteps(read, terms, new Map()), MOST_ENTRIES)
  yield* read.loadLists(steps.map(({ key }) => key))
  const best = bestOf(read, { named: [], steps }, GUESSED, hidden)
  yield* read.loadSketches(best.map(({ slot }) => slot))
}

/** Scores all passages. No other question can run in between, because the scores are shared. */
function bestOf(
  read: IndexRead,
  { named: namedKeys, steps }: { named: readonly string[]; steps: readonly Step[] },
  most: number,
  hidden: Uint8Array | undefined,
): PassageCandidate[] {
  if (core.length < read.slots) {
    core = new Float32Array(read.slots)
    extra = new Float32Array(read.slots)
  }
  try {
    const named = namedSlots(read, namedKeys, hidden)
    for (const { key, add } of steps) add(read.lists(key))
    const slots = new Set([...topSlots(core, extra, read.slots, most, hidden), ...named])
    return [...slots].map((slot) => ({ slot, core: core[slot]!, extra: extra[slot]!, isNamed: named.has(slot) }))
  } finally {
    core.fill(0, 0, read.slots)
    extra.fill(0, 0, read.slots)
  }
}

/** Returns the passages whose title and heading contain the stems of these keys and hardly anything else. */
function namedSlots(read: IndexRead, keys: readonly string[], hidden: Uint8Array | undefined): ReadonlySet<number> {
  if (keys.length === 0) return new Set()
  for (const key of keys) for (const { posting, offset } of read.lists(key).parts) accumulate(posting, 1, core, offset)
  const slots = topSlots(core, extra, read.slots, MOST_NAMED, hidden)
  core.fill(0, 0, read.slots)
  return new Set(slots)
}

/** Returns what to do with the lists of all terms. */
function toSteps(read: IndexRead, terms: SearchTerms, alike: ReadonlyMap<string, readonly SimilarWord[]>): Step[] {
  const steps: Step[] = []
  for (const [stem, weight] of terms.stems) {
    steps.push({ key: `s${stem}`, add: (lists) => spread(read, lists, weight, core) })
    steps.push({ key: `t${stem}`, add: (lists) => spread(read, lists, TITLE * weight, core) })
  }
  for (const [word, weight] of terms.exact) {
    steps.push({ key: `e${word}`, add: (lists) => spreadExact(read, word, lists, weight) })
    for (const other of alike.get(word) ?? [])
      steps.push({ key: `e${other.word}`, add: (lists) => spreadAlike(read, { word, weight, other }, lists) })
  }
  for (const [piece, weight] of terms.pieces)
    steps.push({ key: `u${piece}`, add: (lists) => spread(read, lists, GRAMS * weight, extra) })
  return steps
}

/** Leaves out the longest lists, and preserves the order. */
function withinEntries(read: IndexRead, steps: Step[], most: number): Step[] {
  const counted = steps.map((step) => ({ step, df: read.frequency(step.key) }))
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

function spread(read: IndexRead, lists: TermLists, weight: number, slots: Float32Array): void {
  const rare = weight * idfOf(read.slots, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, slots, offset)
}

function spreadExact(read: IndexRead, word: string, lists: TermLists, weight: number): void {
  if (word.length < LEAST_ALIKE_LETTERS) {
    spread(read, lists, EXACT * weight, core)
    return
  }
  const rare = EXACT * weight * idfOf(read.slots, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, core, offset, extra, longOf(word))
}

function spreadAlike(
  read: IndexRead,
  { word, weight, other }: { word: string; weight: number; other: SimilarWord },
  lists: TermLists,
): void {
  // A rare similar word must not count more than the word itself.
  const limited = Math.min(1, idfOf(read.slots, read.frequency(`e${word}`)) / idfOf(read.slots, lists.df))
  spread(read, lists, EXACT * weight * other.dice * limited * longOf(word), extra)
}

const longOf = (word: string): number => (/^[a-z0-9]+$/.test(word) ? LONG_WORD.latin : LONG_WORD.other) * (word.length - 2)
