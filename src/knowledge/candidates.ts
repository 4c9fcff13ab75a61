import { accumulate } from '../store/knowledge-posting.ts'
import type { KnowledgeIndex, TermLists } from '../store/knowledge-reader.ts'
import type { SearchTerms } from './search-terms.ts'
import { topSlots } from './top-slots.ts'

/** What each stream counts beside the stems. */
const EXACT = 0.2
const TITLE = 0.6
export const GRAMS = 0.2
/** Words spelt alike, of the base, that help to choose candidates. */
const LEAST_ALIKE = 0.4
const MOST_ALIKE = 8
/** Words of a question that such are looked for. */
const MOST_WITH_ALIKE = 32
const LEAST_ALIKE_LETTERS = 3
/** A long word says more; where letters have cases and inflections are short, its stem says part of that already. */
const LONG_WORD = { latin: 0.2, other: 0.5 }

/** A passage that came up. */
export interface Candidate {
  slot: number
  /** BM25 of its stems, words and title: part of the score. */
  core: number
  /** What words spelt alike and pieces of scripts without spaces add: good for choosing only. */
  extra: number
}

// Slots of all bases of this thread in turn; grown to the largest, and zero between questions.
let core = new Float32Array(0)
let extra = new Float32Array(0)

/** The best passages by the lists of the index alone, best first. */
export function findCandidates(
  index: KnowledgeIndex,
  terms: SearchTerms,
  most: number,
  hidden: Uint8Array | undefined,
): Candidate[] {
  if (core.length < index.slots) {
    core = new Float32Array(index.slots)
    extra = new Float32Array(index.slots)
  }
  try {
    for (const [stem, weight] of terms.stems) {
      spread(index, index.lists(`s${stem}`), weight, core)
      spread(index, index.lists(`t${stem}`), TITLE * weight, core)
    }
    let words = 0
    for (const [word, weight] of terms.exact) spreadExact(index, word, weight, words++ < MOST_WITH_ALIKE)
    for (const [piece, weight] of terms.pieces) spread(index, index.lists(`u${piece}`), GRAMS * weight, extra)
    return topSlots(core, extra, index.slots, most, hidden).map((slot) => ({ slot, core: core[slot]!, extra: extra[slot]! }))
  } finally {
    core.fill(0, 0, index.slots)
    extra.fill(0, 0, index.slots)
  }
}

/** What a term says by being rare, never negative. */
export function idfOf(index: KnowledgeIndex, df: number): number {
  return Math.log(1 + (index.slots - df + 0.5) / (df + 0.5))
}

function spread(index: KnowledgeIndex, lists: TermLists, weight: number, slots: Float32Array): void {
  const rare = weight * idfOf(index, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, slots, offset)
}

function spreadExact(index: KnowledgeIndex, word: string, weight: number, withAlike: boolean): void {
  const lists = index.lists(`e${word}`)
  if (word.length < LEAST_ALIKE_LETTERS) {
    spread(index, lists, EXACT * weight, core)
    return
  }
  const long = (/^[a-z0-9]+$/.test(word) ? LONG_WORD.latin : LONG_WORD.other) * (word.length - 2)
  const rare = EXACT * weight * idfOf(index, lists.df)
  for (const { posting, offset } of lists.parts) accumulate(posting, rare, core, offset, extra, long)
  if (!withAlike) return
  const alike = index.similar(word, Math.ceil(word.length / 4), LEAST_ALIKE, MOST_ALIKE + 1) ?? []
  const own = idfOf(index, lists.df)
  for (const other of alike) {
    if (other.word === word) continue
    const others = index.lists(`e${other.word}`)
    // A rare neighbour must not say more than the word itself.
    const held = Math.min(1, own / idfOf(index, others.df))
    spread(index, others, EXACT * weight * other.dice * held * long, extra)
  }
}
