import type { Metadata } from '../../core/document.ts'
import { splitHeadings } from '../../core/headings.ts'
import type { HistoryEntry } from '../../core/message.ts'
import { ANSWER_THRESHOLD, type Hit, type Retrieval, type RetrieveInput } from '../../core/ports/retrieval.ts'
import { SEPARATOR } from '../../store/knowledge/index/build.ts'
import { passageIdOf } from '../../store/knowledge/passages.ts'
import type { FoundPassage, KnowledgeIndex, Sketch } from '../../store/knowledge/reader.ts'
import { analyse, contentStems, type Language } from '../../text/analyse.ts'
import { hashOf } from '../../text/ngrams.ts'
import { isDefinitionAsked } from '../answer/definitions.ts'
import { findCandidates, GRAMS, type PassageCandidate } from './candidates.ts'
import { retrievalConfidence, type TermSignal } from './confidence.ts'
import { fuse, type Ranked } from './fuse.ts'
import { idfOf } from './idf.ts'
import { toQuestion } from './question.ts'
import { GramScorer, type Pair, ProximityScorer } from './rescore.ts'
import { type SearchTerms, toSearchTerms } from './search-terms.ts'
import { topicOf } from './topic.ts'
import type { Near, VectorSearch } from './vectors/search.ts'

const PROXIMITY = 0.5
/** Nearest passages taken from the vector search. */
const NEAR = 100
/** Candidates that are rescored. More do not change the order. */
const CLOSE_LOOK = 30

/**
 * From this confidence on, the answer to a question without a pronoun ignores the conversation: its many words would only pull the search back to earlier
 * topics. Lower thresholds cost elliptical questions more than they help other questions.
 */
const SURELY = 0.98

/** A question with fewer distinct terms is searched with the conversation. */
const LEAST_ALONE = 2

/** A question that is barer than this and points back can hardly be understood alone. */
const BARE_AND_POINTING = 0.3
/** The same for a question without a pronoun whose answer is not found without the conversation. */
const BARE = 0.5

/**
 * Least share of the question's own words in the best passage found with the conversation, if the question does not point back. Four in five short questions
 * about something else have less, but hardly any follow-ups in full sentences. A third of the barest follow-ups have less, and are declined.
 */
const LEAST_OWN = 0.2
/** Below `LEAST_OWN`, the answer without the conversation is used from `SURE_ALONE` on. Otherwise the confidence is limited to `MOST_WITHOUT_OWN`. */
const SURE_ALONE = 0.95
const MOST_WITHOUT_OWN = 0.4

/** Bonus, as a share of the score, for the document quoted last: it more often answers a question that depends on the conversation. */
const TOPIC = 0.5
/** Passages found for an earlier question, among which the one that its reply quotes is searched. */
const QUOTED_AMONG = 10

/** Returns the passages that best answer a question in its conversation. Call within `index.read`. */
export function retrieve(index: KnowledgeIndex, input: RetrieveInput, vectors?: VectorSearch): Retrieval {
  const question = toQuestion(input.query, [], index.languages)
  const terms = toSearchTerms(index, question)
  const named = isDefinitionAsked(input.query) ? [...terms.asked.keys()] : []
  const missing = terms.isGuessed || [...terms.asked.keys()].some((stem) => isCode(stem) && index.frequency(`s${stem}`) === 0)
  const cosinesOf = nearTo(index, input, vectors)
  const find = (searched: SearchTerms, standsAlone: boolean, topic?: string): Found => {
    const found = search(index, { ...searched, named }, input, { standsAlone, cosinesOf, topic })
    if (missing) limit(found.retrieval)
    return found
  }
  if (input.history.length === 0 || question.words.length === 0) return find(terms, true).retrieval
  const termsOf = (asked: string, history: HistoryEntry[]) => toSearchTerms(index, toQuestion(asked, history, index.languages))
  const askBefore = (asked: string, history: HistoryEntry[]) =>
    search(index, termsOf(asked, history), { ...input, topK: QUOTED_AMONG }, { standsAlone: false }).retrieval.hits
  const findTogether = (): Found => find(termsOf(input.query, input.history), false, topicOf(input.history, askBefore))
  if (question.pointsBack) return { ...findTogether().retrieval, elliptical: question.bareness > BARE_AND_POINTING }
  const alone = find(terms, true).retrieval
  const leansOn = question.points || question.goesOn || new Set(question.sequence).size < LEAST_ALONE
  if (!leansOn && alone.confidence >= SURELY) return alone
  const together = findTogether()
  const elliptical = !question.points && question.bareness > BARE && alone.confidence < ANSWER_THRESHOLD
  const retrieval: Retrieval = { ...together.retrieval, elliptical }
  // A passage found by its vector need not contain a word of the question.
  const leans = question.isSilent || question.goesOn || retrieval.mode === 'hybrid'
  if (missing || leans || ownShare(index, signalsOf(index, terms, together.best)) >= LEAST_OWN) return retrieval
  // The passages are about earlier messages and hardly contain a word of the question. It needs no context, or its context is unclear.
  return alone.confidence >= SURE_ALONE ? alone : limit(retrieval, alone.confidence)
}

/** True for a number or a name with a digit, of three characters or more. No other one can replace it. */
const isCode = (stem: string): boolean => stem.length > 2 && /\p{N}/u.test(stem)

/** Limits the confidence: the base counts as having no answer. */
function limit(retrieval: Retrieval, confidence = retrieval.confidence): Retrieval {
  retrieval.confidence = Math.min(confidence, MOST_WITHOUT_OWN)
  retrieval.mostConfidence = retrieval.confidence
  return retrieval
}

/** Returns the share of the question's own words, by idf, in the best passage. */
function ownShare(index: KnowledgeIndex, signals: readonly TermSignal[]): number {
  const sum = (some: readonly TermSignal[]): number => some.reduce((idf, { frequency }) => idf + idfOf(index.slots, frequency), 0)
  return sum(signals.filter(({ inBest }) => inBest)) / (sum(signals) || 1)
}

function search(
  index: KnowledgeIndex,
  terms: SearchTerms,
  { topK, filter }: RetrieveInput,
  { standsAlone, cosinesOf, topic }: { standsAlone: boolean; cosinesOf?: Cosines | undefined; topic?: string | undefined },
): Found {
  const query = [...terms.stems.keys()].join(' ')
  const ranked =
    index.slots === 0 || terms.stems.size === 0
      ? []
      : closeLook(index, terms, findCandidates(index, terms, Math.max(topK, CLOSE_LOOK), index.hidden(filter)))
  const cosines = cosinesOf?.(ranked)
  const isHybrid = cosines !== undefined && cosines.size > 0
  const fused = isHybrid ? fuse(ranked, cosines) : ranked
  const order = preferTopic(index, topic, fused)
  const retrieval: Retrieval = {
    query,
    standsAlone,
    ...(isHybrid ? { mode: 'hybrid' as const } : {}),
    hits: order.slice(0, topK).map((hit) => toHit(index.passage(hit.slot), hit)),
    confidence: retrievalConfidence({
      passages: index.slots,
      terms: signalsOf(index, terms, ranked[0]),
      best: ranked[0]?.score ?? 0,
      second: ranked[1]?.score ?? 0,
    }),
  }
  return { retrieval, best: fused[0] }
}

/** Raises the scores of passages of the document `topic`. */
function preferTopic(index: KnowledgeIndex, topic: string | undefined, ranked: Ranked[]): Ranked[] {
  if (topic === undefined) return ranked
  const raised = ranked.map((one) =>
    index.passage(one.slot).documentId === topic
      ? { ...one, score: one.score * (1 + TOPIC), scores: { ...one.scores, topic: one.score * TOPIC } }
      : one,
  )
  return raised.sort((a, b) => b.score - a.score || a.slot - b.slot)
}

interface Found {
  retrieval: Retrieval
  best: Ranked | undefined
}

type Cosines = (ranked: readonly Ranked[]) => Map<number, number>

/**
 * Returns a function that returns cosines by slot: for the passages nearest to the question, which are searched once, and for the hits found by words.
 * Undefined if only words are searched.
 */
function nearTo(
  index: KnowledgeIndex,
  { vector, filter }: RetrieveInput,
  vectors: VectorSearch | undefined,
): Cosines | undefined {
  const { base, version } = index
  if (vector === undefined || vectors?.model(base, version) !== vector.model) return undefined
  const hide = { key: JSON.stringify(filter), mask: (ids: Uint32Array) => index.hiddenIds(ids, filter) }
  const bySlot = (near: readonly Near[]) =>
    near.flatMap(({ id, cosine }): [number, number][] => {
      const slot = index.slotOf(id)
      return slot === undefined ? [] : [[slot, cosine]]
    })
  let nearest: [number, number][] | undefined
  return (ranked) => {
    nearest ??= bySlot(vectors.nearest(base, version, vector.values, NEAR, hide))
    const cosines = new Map(nearest)
    const others = ranked.filter(({ slot }) => !cosines.has(slot)).map(({ slot }) => index.idAt(slot))
    for (const [slot, cosine] of bySlot(vectors.cosines(base, vector.values, others))) cosines.set(slot, cosine)
    return cosines
  }
}

function closeLook(index: KnowledgeIndex, terms: SearchTerms, candidates: readonly PassageCandidate[]): Ranked[] {
  const grams = new GramScorer(gramWeights(index, terms), index.averageGrams)
  const nearness = new ProximityScorer(pairsOf(index, terms.sequence))
  const isClose = ({ isNamed }: PassageCandidate, rank: number): boolean => rank < CLOSE_LOOK || isNamed
  const close = candidates.filter(isClose).map(({ slot, core }): Ranked => {
    const sketch = index.sketch(slot)
    const ngrams = GRAMS * grams.score(sketch)
    const proximity = PROXIMITY * nearness.score(sketch)
    return { slot, score: core + ngrams + proximity, scores: { terms: core, ngrams, proximity } }
  })
  if (terms.named.length > 0) addNames(index, terms.named, close)
  close.sort((a, b) => b.score - a.score || a.slot - b.slot)
  // The other candidates follow in their order.
  let floor = close.at(-1)?.score ?? 0
  const rest = candidates
    .filter((candidate, rank) => !isClose(candidate, rank))
    .map(({ slot, core, extra }) => {
      floor = Math.min(floor, core + extra)
      return { slot, score: floor, scores: { terms: core, alike: extra } }
    })
  return [...close, ...rest]
}

/** Bonus, as a share of the best score, if title and heading are the name of the subject. */
const NAME = 0.8
/** Part of that bonus for a section's own heading, without the title and the headings above. */
const SECTION = 0.6
/** Bonus, as a share of the best score, for a text that begins with the name. */
const OPENING = 0.2
const OPENING_STEMS = 6

/** For a question that asks what something is: prefers passages whose title and heading are its name. */
function addNames(index: KnowledgeIndex, named: readonly string[], close: readonly Ranked[]): void {
  const weights = new Map(named.map((stem) => [hashOf(stem), idfOf(index.slots, index.frequency(`s${stem}`)) + 0.1]))
  const whole = weights.values().reduce((sum, weight) => sum + weight, 0)
  const share = (hashes: Uint16Array): number => {
    const held = new Set(hashes.filter((hash) => weights.has(hash)))
    return held.values().reduce((sum, hash) => sum + weights.get(hash)!, 0) / whole
  }
  const best = Math.max(...close.map(({ score }) => score))
  for (const ranked of close) {
    const { hashes, title } = index.sketch(ranked.slot)
    const text = hashes.indexOf(SEPARATOR) + 1
    const nameIn = (above: Uint16Array): number => share(above) ** 2 / (1 + above.filter((hash) => !weights.has(hash)).length)
    const path = splitHeadings(index.passage(ranked.slot).heading)
    const own = (path.length > 1 ? SECTION : 1) * nameIn(hashesOf(path.at(-1)!, index.languages))
    const name = Math.max(nameIn(hashes.subarray(0, text - 1)), own)
    const opens = share(hashes.subarray(text, Math.min(title, text + OPENING_STEMS))) ** 2
    ranked.scores['name'] = best * (NAME * name + OPENING * opens)
    ranked.score += ranked.scores['name']
  }
}

/** Returns the hashes of the stems, without stop words. */
function hashesOf(text: string, languages: readonly Language[]): Uint16Array {
  return Uint16Array.from(new Set(contentStems(analyse(text, languages)).map(hashOf)))
}

function gramWeights(index: KnowledgeIndex, terms: SearchTerms): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [gram, weight] of terms.grams)
    if (weight > 0) weights.set(gram, weight * idfOf(index.slots, index.gramFrequency(gram)))
  for (const [piece, weight] of terms.pieces) weights.set(piece, weight * idfOf(index.slots, index.frequency(`u${piece}`)))
  return weights
}

function pairsOf(index: KnowledgeIndex, sequence: readonly string[]): Pair[] {
  const rarity = sequence.map((stem) => idfOf(index.slots, index.frequency(`s${stem}`)))
  const pairs: Pair[] = []
  for (let i = 0; i + 1 < sequence.length; i++) {
    const [first, second] = [sequence[i]!, sequence[i + 1]!]
    if (first !== second) pairs.push({ first, second, idf: Math.min(rarity[i]!, rarity[i + 1]!) })
  }
  return pairs
}

function signalsOf(index: KnowledgeIndex, terms: SearchTerms, best: Ranked | undefined): TermSignal[] {
  const sketch = best === undefined ? undefined : index.sketch(best.slot)
  const isHeld = (stem: string): boolean => sketch !== undefined && holdsStem(sketch, hashOf(stem))
  const frequency = (stem: string): number => index.frequency(`s${stem}`)
  return [...terms.asked].map(([stem, weight]) => {
    const synonyms = terms.synonyms.get(stem) ?? []
    const least = synonyms.map((phrase) => Math.min(...phrase.map(frequency)))
    return {
      frequency: frequency(stem) || Math.max(0, ...least),
      weight: Math.min(1, weight),
      inBest: isHeld(stem) || synonyms.some((phrase) => phrase.every(isHeld)),
    }
  })
}

function holdsStem({ hashes, title }: Sketch, stem: number): boolean {
  const at = hashes.indexOf(stem)
  return at >= 0 && at < title
}

function toHit(passage: FoundPassage, { score, scores }: Ranked): Hit {
  return {
    documentId: passage.documentId,
    passageId: passageIdOf(passage.documentId, passage.generation, passage.position),
    title: passage.title,
    heading: passage.heading,
    text: passage.text,
    page: passage.page,
    url: urlOf(passage.source, passage.metadata),
    score,
    scores,
  }
}

/** On one line: clients put the URL into Markdown links. */
const WEB_ADDRESS = /^https?:\/\/[^\p{Cc}\p{Zl}\p{Zp}]+$/iu

function urlOf(source: string, metadata: string): string | null {
  const { url } = JSON.parse(source) as { url?: string }
  const own = url ?? (metadata.includes('"url"') ? (JSON.parse(metadata) as Metadata)['url'] : undefined)
  return typeof own === 'string' && WEB_ADDRESS.test(own) ? own : null
}
