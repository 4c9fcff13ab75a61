import type { Metadata } from '../../core/document.ts'
import { splitHeadings } from '../../core/headings.ts'
import type { HistoryEntry } from '../../core/message.ts'
import { ANSWER_THRESHOLD, type Hit, type Retrieval, type RetrieveInput } from '../../core/ports/retrieval.ts'
import { SEPARATOR } from '../../store/knowledge/index/build.ts'
import { passageIdOf } from '../../store/knowledge/passages.ts'
import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { Sketch } from '../../store/knowledge/reader/sketch.ts'
import type { FoundPassage } from '../../store/knowledge/reader/snapshot.ts'
import { done, type Work } from '../../store/knowledge/work.ts'
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

/** Returns the passages that best answer a question in its conversation. `read.loadFilter` comes first. */
export function* retrieve(read: IndexRead, input: RetrieveInput, vectors?: VectorSearch): Work<Retrieval> {
  const [retrieval] = yield* read.together(retrieveInOrder(read, input, vectors), lookAhead(read, input))
  return retrieval
}

/** If it saves round trips: searches with the conversation at the same time as without it. Both read the same rows later. */
function* lookAhead(read: IndexRead, input: RetrieveInput): Work<void> {
  if (!read.isRemote || input.history.length === 0) return
  yield* read.together(searchAfter(read, input, input.query, input.history), topicOf(input.history, hitsBefore(read, input)))
}

/** Searches for a question with the conversation before it. */
function* searchAfter(read: IndexRead, input: RetrieveInput, query: string, history: readonly HistoryEntry[]): Work<Retrieval> {
  const terms = yield* toSearchTerms(read, toQuestion(query, history, read.languages))
  return (yield* search(read, terms, input, { standsAlone: false })).retrieval
}

/** Returns the function for `topicOf` that returns the passages found for an earlier question. */
const hitsBefore = (read: IndexRead, input: RetrieveInput) =>
  function* (asked: string, history: HistoryEntry[]): Work<Hit[]> {
    return (yield* searchAfter(read, { ...input, topK: QUOTED_AMONG }, asked, history)).hits
  }

function* retrieveInOrder(read: IndexRead, input: RetrieveInput, vectors?: VectorSearch): Work<Retrieval> {
  const question = toQuestion(input.query, [], read.languages)
  const [terms, nearest] = yield* read.together(toSearchTerms(read, question), nearestTo(read, input, vectors))
  const named = isDefinitionAsked(input.query) ? [...terms.asked.keys()] : []
  const missing = terms.isGuessed || [...terms.asked.keys()].some((stem) => isCode(stem) && read.frequency(`s${stem}`) === 0)
  function* find(searched: SearchTerms, standsAlone: boolean, topic?: string): Work<Found> {
    const found = yield* search(read, { ...searched, named }, input, { standsAlone, nearest, topic })
    if (missing) limit(found.retrieval)
    return found
  }
  if (input.history.length === 0 || question.words.length === 0) return (yield* find(terms, true)).retrieval
  function* findTogether(): Work<Found> {
    const [all, topic] = yield* read.together(
      toSearchTerms(read, toQuestion(input.query, input.history, read.languages)),
      topicOf(input.history, hitsBefore(read, input)),
    )
    return yield* find(all, false, topic)
  }
  if (question.pointsBack) return { ...(yield* findTogether()).retrieval, elliptical: question.bareness > BARE_AND_POINTING }
  const alone = (yield* find(terms, true)).retrieval
  const leansOn = question.points || question.goesOn || new Set(question.sequence).size < LEAST_ALONE
  if (!leansOn && alone.confidence >= SURELY) return alone
  const both = yield* findTogether()
  const elliptical = !question.points && question.bareness > BARE && alone.confidence < ANSWER_THRESHOLD
  const retrieval: Retrieval = { ...both.retrieval, elliptical }
  // A passage found by its vector need not contain a word of the question.
  const leans = question.isSilent || question.goesOn || retrieval.mode === 'hybrid'
  if (missing || leans || ownShare(read, yield* signalsOf(read, terms, both.best)) >= LEAST_OWN) return retrieval
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
function ownShare(read: IndexRead, signals: readonly TermSignal[]): number {
  const sum = (some: readonly TermSignal[]): number => some.reduce((idf, { frequency }) => idf + idfOf(read.slots, frequency), 0)
  return sum(signals.filter(({ inBest }) => inBest)) / (sum(signals) || 1)
}

interface SearchOptions {
  standsAlone: boolean
  nearest?: Nearest | undefined
  topic?: string | undefined
}

function* search(
  read: IndexRead,
  terms: SearchTerms,
  { topK, filter }: RetrieveInput,
  { standsAlone, nearest, topic }: SearchOptions,
): Work<Found> {
  const query = [...terms.stems.keys()].join(' ')
  const isEmpty = read.slots === 0 || terms.stems.size === 0
  const candidates = isEmpty ? [] : yield* findCandidates(read, terms, Math.max(topK, CLOSE_LOOK), read.hidden(filter))
  const [ranked, cosines] = yield* read.together(
    closeLook(read, terms, candidates),
    nearest?.cosinesWith(candidates.map(({ slot }) => slot)) ?? done(undefined),
    // They are likely hits.
    read.loadPassages(read.isRemote ? (nearest?.slots.slice(0, topK) ?? []) : []),
  )
  const isHybrid = cosines !== undefined && cosines.size > 0
  const fused = isHybrid ? fuse(ranked, cosines) : ranked
  const order = yield* preferTopic(read, topic, fused)
  const hits = order.slice(0, topK)
  yield* read.loadPassages(hits.map(({ slot }) => slot))
  const retrieval: Retrieval = {
    query,
    standsAlone,
    ...(isHybrid ? { mode: 'hybrid' as const } : {}),
    hits: hits.map((hit) => toHit(read.passage(hit.slot), hit)),
    confidence: retrievalConfidence({
      passages: read.slots,
      terms: yield* signalsOf(read, terms, ranked[0]),
      best: ranked[0]?.score ?? 0,
      second: ranked[1]?.score ?? 0,
    }),
  }
  return { retrieval, best: fused[0] }
}

/** Raises the scores of passages of the document `topic`. */
function* preferTopic(read: IndexRead, topic: string | undefined, ranked: Ranked[]): Work<Ranked[]> {
  if (topic === undefined) return ranked
  yield* read.loadPassages(ranked.map(({ slot }) => slot))
  const raised = ranked.map((one) =>
    read.passage(one.slot).documentId === topic
      ? { ...one, score: one.score * (1 + TOPIC), scores: { ...one.scores, topic: one.score * TOPIC } }
      : one,
  )
  return raised.sort((a, b) => b.score - a.score || a.slot - b.slot)
}

interface Found {
  retrieval: Retrieval
  best: Ranked | undefined
}

/** The passages nearest to a question by their vectors, nearest first. */
interface Nearest {
  slots: number[]
  /** Returns cosines by slot, also for the passages that were found by words. */
  cosinesWith(slots: readonly number[]): Work<Map<number, number>>
}

/** Searches the vectors of a base. Returns undefined if only words are searched. */
function* nearestTo(
  read: IndexRead,
  { vector, filter }: RetrieveInput,
  vectors: VectorSearch | undefined,
): Work<Nearest | undefined> {
  const { at } = read
  if (vector === undefined || vectors === undefined || (yield* vectors.model(at)) !== vector.model) return undefined
  const hide = { key: JSON.stringify(filter), mask: (ids: Uint32Array) => read.hiddenIds(ids, filter) }
  const bySlot = (near: readonly Near[]) =>
    near.flatMap(({ id, cosine }): [number, number][] => {
      const slot = read.snapshot.slotOf(id)
      return slot === undefined ? [] : [[slot, cosine]]
    })
  const nearest = bySlot(yield* vectors.nearest(at, vector.values, NEAR, hide))
  return {
    slots: nearest.map(([slot]) => slot),
    *cosinesWith(slots) {
      const cosines = new Map(nearest)
      const others = slots.filter((slot) => !cosines.has(slot)).map((slot) => read.snapshot.idAt(slot))
      for (const [slot, cosine] of bySlot(yield* vectors.cosines(at, vector.values, others))) cosines.set(slot, cosine)
      return cosines
    },
  }
}

function* closeLook(read: IndexRead, terms: SearchTerms, candidates: readonly PassageCandidate[]): Work<Ranked[]> {
  const slots = candidates.filter(isClose).map(({ slot }) => slot)
  yield* read.together(
    read.loadGrams([...terms.grams].filter(([, weight]) => weight > 0).map(([gram]) => gram)),
    read.load([...terms.pieces.keys()].map((piece) => `u${piece}`)),
    read.loadSketches(slots),
  )
  if (terms.named.length > 0) yield* read.loadPassages(slots)
  return rescore(read, terms, candidates)
}

const isClose = ({ isNamed }: PassageCandidate, rank: number): boolean => rank < CLOSE_LOOK || isNamed

/** Scores the first candidates in detail. */
function rescore(read: IndexRead, terms: SearchTerms, candidates: readonly PassageCandidate[]): Ranked[] {
  const grams = new GramScorer(gramWeights(read, terms), read.snapshot.averageGrams)
  const nearness = new ProximityScorer(pairsOf(read, terms.sequence))
  const close = candidates.filter(isClose).map(({ slot, core }): Ranked => {
    const sketch = read.sketch(slot)
    const ngrams = GRAMS * grams.score(sketch)
    const proximity = PROXIMITY * nearness.score(sketch)
    return { slot, score: core + ngrams + proximity, scores: { terms: core, ngrams, proximity } }
  })
  if (terms.named.length > 0) addNames(read, terms.named, close)
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
function addNames(read: IndexRead, named: readonly string[], close: readonly Ranked[]): void {
  const weights = new Map(named.map((stem) => [hashOf(stem), idfOf(read.slots, read.frequency(`s${stem}`)) + 0.1]))
  const whole = weights.values().reduce((sum, weight) => sum + weight, 0)
  const share = (hashes: Uint16Array): number => {
    const held = new Set(hashes.filter((hash) => weights.has(hash)))
    return held.values().reduce((sum, hash) => sum + weights.get(hash)!, 0) / whole
  }
  const best = Math.max(...close.map(({ score }) => score))
  for (const ranked of close) {
    const { hashes, title } = read.sketch(ranked.slot)
    const text = hashes.indexOf(SEPARATOR) + 1
    const nameIn = (above: Uint16Array): number => share(above) ** 2 / (1 + above.filter((hash) => !weights.has(hash)).length)
    const path = splitHeadings(read.passage(ranked.slot).heading)
    const own = (path.length > 1 ? SECTION : 1) * nameIn(hashesOf(path.at(-1)!, read.languages))
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

function gramWeights(read: IndexRead, terms: SearchTerms): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [gram, weight] of terms.grams)
    if (weight > 0) weights.set(gram, weight * idfOf(read.slots, read.gramFrequency(gram)))
  for (const [piece, weight] of terms.pieces) weights.set(piece, weight * idfOf(read.slots, read.frequency(`u${piece}`)))
  return weights
}

function pairsOf(read: IndexRead, sequence: readonly string[]): Pair[] {
  const rarity = sequence.map((stem) => idfOf(read.slots, read.frequency(`s${stem}`)))
  const pairs: Pair[] = []
  for (let i = 0; i + 1 < sequence.length; i++) {
    const [first, second] = [sequence[i]!, sequence[i + 1]!]
    if (first !== second) pairs.push({ first, second, idf: Math.min(rarity[i]!, rarity[i + 1]!) })
  }
  return pairs
}

function* signalsOf(read: IndexRead, terms: SearchTerms, best: Ranked | undefined): Work<TermSignal[]> {
  if (best === undefined) return toSignals(read, terms, undefined)
  yield* read.loadSketches([best.slot])
  return toSignals(read, terms, read.sketch(best.slot))
}

function toSignals(read: IndexRead, terms: SearchTerms, sketch: Sketch | undefined): TermSignal[] {
  const isHeld = (stem: string): boolean => sketch !== undefined && holdsStem(sketch, hashOf(stem))
  const frequency = (stem: string): number => read.frequency(`s${stem}`)
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
