import type { Metadata } from '../core/document.ts'
import { ANSWER_THRESHOLD, type Hit, type Retrieval, type RetrieveInput } from '../core/retrieval.ts'
import { passageIdOf } from '../store/knowledge-passages.ts'
import type { FoundPassage, KnowledgeIndex } from '../store/knowledge-reader.ts'
import { hashOf } from '../text/ngrams.ts'
import { type Candidate, findCandidates, GRAMS, idfOf } from './candidates.ts'
import { retrievalConfidence, type TermSignal } from './confidence.ts'
import { type Question, toQuestion } from './question.ts'
import { GramScorer, type Pair, ProximityScorer } from './rescore.ts'
import { type SearchTerms, toSearchTerms } from './search-terms.ts'

const PROXIMITY = 0.5
/** Candidates that are looked at closely; more do not change the order. */
const CLOSE_LOOK = 30

/**
 * A question without a pronoun whose answer is found this surely without the conversation needs none of it: history words, which are
 * many, would only pull it back to what was talked of before. Lower figures cost elliptical questions more than they bring the others.
 */
const SURELY = 0.95

/** A question that says less than this by itself, and points back, can hardly be understood alone. */
const BARE_AND_POINTING = 0.3
/** The same of one that does not point, and whose answer is not found without the conversation. */
const BARE = 0.5

/** The passages of a base that answer a question best, in its conversation. Call within `index.read`. */
export function retrieve(index: KnowledgeIndex, input: RetrieveInput): Retrieval {
  const alone = toQuestion(input.query, [], index.languages)
  if (input.history.length === 0) return find(index, alone, input, true)
  let elliptical = alone.pointsBack && alone.bareness > BARE_AND_POINTING
  if (!alone.points) {
    const found = find(index, alone, input, true)
    if (found.confidence >= SURELY) return found
    elliptical = alone.bareness > BARE && found.confidence < ANSWER_THRESHOLD
  }
  return { ...find(index, toQuestion(input.query, input.history, index.languages), input, false), elliptical }
}

function find(index: KnowledgeIndex, question: Question, { topK, filter }: RetrieveInput, standsAlone: boolean): Retrieval {
  const terms = toSearchTerms(index, question)
  const query = [...terms.stems.keys()].join(' ')
  if (index.slots === 0 || terms.stems.size === 0) return { query, standsAlone, hits: [], confidence: 0 }
  const candidates = findCandidates(index, terms, Math.max(topK, CLOSE_LOOK), index.hidden(filter))
  const ranked = closeLook(index, terms, candidates)
  return {
    query,
    standsAlone,
    hits: ranked.slice(0, topK).map((hit) => toHit(index.passage(hit.slot), hit)),
    confidence: retrievalConfidence({
      passages: index.slots,
      terms: signalsOf(index, terms, ranked[0]),
      best: ranked[0]?.score ?? 0,
      second: ranked[1]?.score ?? 0,
    }),
  }
}

interface Ranked {
  slot: number
  score: number
  scores: Record<string, number>
}

function closeLook(index: KnowledgeIndex, terms: SearchTerms, candidates: readonly Candidate[]): Ranked[] {
  const grams = new GramScorer(gramWeights(index, terms), index.averageGrams)
  const nearness = new ProximityScorer(pairsOf(index, terms.sequence))
  const close = candidates.slice(0, CLOSE_LOOK).map(({ slot, core }) => {
    const sketch = index.sketch(slot)
    const ngrams = GRAMS * grams.score(sketch.titleGrams, sketch.textGrams)
    const proximity = PROXIMITY * nearness.score(sketch.forward)
    return { slot, score: core + ngrams + proximity, scores: { terms: core, ngrams, proximity } }
  })
  close.sort((a, b) => b.score - a.score || a.slot - b.slot)
  // The others keep their order, below.
  let floor = close.at(-1)?.score ?? 0
  const rest = candidates.slice(CLOSE_LOOK).map(({ slot, core, extra }) => {
    floor = Math.min(floor, core + extra)
    return { slot, score: floor, scores: { terms: core, alike: extra } }
  })
  return [...close, ...rest]
}

function gramWeights(index: KnowledgeIndex, terms: SearchTerms): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [gram, weight] of terms.grams) if (weight > 0) weights.set(gram, weight * idfOf(index, index.gramFrequency(gram)))
  for (const [piece, weight] of terms.pieces) weights.set(piece, weight * idfOf(index, index.lists(`u${piece}`).df))
  return weights
}

function pairsOf(index: KnowledgeIndex, sequence: readonly string[]): Pair[] {
  const rarity = sequence.map((stem) => idfOf(index, index.lists(`s${stem}`).df))
  const pairs: Pair[] = []
  for (let i = 0; i + 1 < sequence.length; i++) {
    const [first, second] = [sequence[i]!, sequence[i + 1]!]
    if (first !== second) pairs.push({ first, second, idf: Math.min(rarity[i]!, rarity[i + 1]!) })
  }
  return pairs
}

function signalsOf(index: KnowledgeIndex, terms: SearchTerms, best: Ranked | undefined): TermSignal[] {
  const held = best === undefined ? undefined : index.sketch(best.slot).forward
  return [...terms.asked].map(([stem, weight]) => ({
    frequency: index.lists(`s${stem}`).df,
    weight: Math.min(1, weight),
    inBest: held?.includes(hashOf(stem)) ?? false,
  }))
}

function toHit(passage: FoundPassage, { score, scores }: Ranked): Hit {
  return {
    documentId: passage.documentId,
    passageId: passageIdOf(passage.documentId, passage.generation, passage.position),
    title: passage.title,
    heading: passage.heading,
    text: passage.text,
    url: urlOf(passage.source, passage.metadata),
    score,
    scores,
  }
}

function urlOf(source: string, metadata: string): string | null {
  const { url } = JSON.parse(source) as { url?: string }
  const own = url ?? (metadata.includes('"url"') ? (JSON.parse(metadata) as Metadata)['url'] : undefined)
  return typeof own === 'string' && /^https?:\/\//i.test(own) ? own : null
}
