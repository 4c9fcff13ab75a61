import type { Hit, Retrieval, SuggestInput, Suggestion } from '../../core/ports/retrieval.ts'
import { ANSWER_THRESHOLD } from '../../core/ports/retrieval.ts'
import type { Work } from '../../store/knowledge/work.ts'
import { analyse, contentStems } from '../../text/analyse.ts'
import { idfOf } from '../query/idf.ts'
import { lastHeading } from './passage-features.ts'
import { phraseQuestions } from './phrase-questions.ts'
import type { TermStatistics } from './question-terms.ts'

// Each candidate costs a retrieval of about a millisecond. This many are enough for three good suggestions.
const MOST_ASKED = 24
/** Most candidates considered. Candidates that are much like an earlier question are not searched, and passages may raise thousands of them. */
const MOST_LOOKED_AT = 240
const MAX_CHARS = 120
/** A passage of another document that scores less than this share of the best one is about something else. */
const LEAST_SCORE = 0.5
/** After a reply with a lower confidence, its document does not indicate what the user asks next. */
const LEAST_SURE = 0.65
/** Sections of a document that are used after the quoted one, and from the beginning. */
export const SIBLINGS = 8
/** Two questions with a larger share of common stems ask the same. */
const SAME = 0.6
/** A question with a lower share of its words, by idf, in the last question and its quotes is about something else. */
const LEAST_SAID = 0.2
/** So is a passage with a lower share of the last question's words. */
const LEAST_OF_QUESTION = 0.3

/** What `suggestQuestions` asks of a base. */
export interface SuggestBase {
  statistics: TermStatistics
  /** Searches the base for each query. */
  ask(queries: readonly string[]): Work<readonly Retrieval[]>
  /** How many questions to ask at the same time. More cost searches in vain, but fewer round trips. */
  atOnce: number
}

/**
 * Returns suggested follow-ups that the base can answer, at most `count`, perhaps none. Searches each candidate first (`ask`): its best hit must be the
 * passage that it came from, with a confidence above the threshold. Deterministic. `candidates`: from the passages; pass the same ones in each turn.
 */
export function* suggestQuestions(
  input: SuggestInput,
  { ask, statistics, atOnce }: SuggestBase,
  candidates: Candidates,
): Work<Suggestion[]> {
  const quoted = quotedOf(input.retrieval)
  const answered = quoted === undefined ? [] : [quoted.title, lastHeading(quoted)]
  const taken = [...input.asked, ...answered].map(stemsOf).filter(({ size }) => size > 0)
  const isNew = (stems: ReadonlySet<string>): boolean => stems.size > 0 && !taken.some((other) => overlap(stems, other) > SAME)
  const offered: Suggestion[] = []
  let asked = 0
  for (const some of portions(candidates.list(), atOnce)) {
    const fresh = some.filter(({ stems }) => isNew(stems))
    yield* statistics.load([...candidates.stems, ...fresh.flatMap(({ stems }) => [...stems])])
    const related = fresh.filter(({ stems, hit }) => candidates.isRelated(stems, hit, statistics))
    const found = yield* ask(related.map(({ text }) => text))
    for (const [i, { text, hit, stems }] of related.entries()) {
      if (offered.length >= input.count || asked >= MOST_ASKED) return offered
      if (!isNew(stems)) continue
      asked++
      const { hits, confidence } = found[i]!
      const best = hits[0]
      if (best === undefined || best.passageId !== hit.passageId || confidence < ANSWER_THRESHOLD) continue
      taken.push(stems)
      offered.push({ text, confidence })
    }
    if (offered.length >= input.count || asked >= MOST_ASKED) break
  }
  return offered
}

function* portions<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let some: T[] = []
  for (const item of items) {
    some.push(item)
    if (some.length < size) continue
    yield some
    some = []
  }
  if (some.length > 0) yield some
}

/** Returns the texts that a reply quotes; for a reply of a language model, the best passage. */
function textsOf({ hits, extract }: Retrieval): string[] {
  if (extract !== undefined) return extract.quotes.map(({ text }) => text)
  return hits.slice(0, 1).map(({ text }) => text)
}

/** Returns candidates for follow-ups after a reply. `siblings`: see `passagesToGoOn`. */
export function candidatesAfter(
  { asked, retrieval }: SuggestInput,
  siblings: readonly Omit<Hit, 'score' | 'scores'>[],
): Candidates {
  return new Candidates(passagesToGoOn(retrieval, siblings), new Topic(asked.at(-1) ?? '', textsOf(retrieval)))
}

/** The last question, and the quotes of its reply. Exported for tests. */
export class Topic {
  readonly #question: ReadonlySet<string>
  readonly #said: ReadonlySet<string>
  /** Stems by passage. */
  readonly #held = new Map<string, ReadonlySet<string>>()

  constructor(question: string, quoted: readonly string[]) {
    this.#question = stemsOf(question)
    this.#said = new Set([...this.#question, ...quoted.flatMap((text) => [...stemsOf(text)])])
  }

  /** Stems of the last question. */
  get stems(): ReadonlySet<string> {
    return this.#question
  }

  /** Returns true if a question with these stems, which a passage answers, is related to the topic. */
  includes(stems: ReadonlySet<string>, passage: Hit, statistics: TermStatistics): boolean {
    if (shareIn(this.#said, stems, statistics) < LEAST_SAID) return false
    return this.#question.size === 0 || shareIn(this.#stemsIn(passage), this.#question, statistics) >= LEAST_OF_QUESTION
  }

  #stemsIn(passage: Hit): ReadonlySet<string> {
    const held = this.#held.get(passage.passageId) ?? stemsOf([passage.title, passage.heading, passage.text].join('\n'))
    this.#held.set(passage.passageId, held)
    return held
  }
}

/** Added to each idf, so that even a word of every passage counts: small bases have one topic. */
const LEAST_WEIGHT = 1

/** Returns the share of `stems`, by idf, that `others` contains. */
function shareIn(others: ReadonlySet<string>, stems: ReadonlySet<string>, statistics: TermStatistics): number {
  let [both, all] = [0, 0]
  for (const stem of stems) {
    const weight = LEAST_WEIGHT + idfOf(statistics.passages, statistics.frequency(stem))
    all += weight
    if (others.has(stem)) both += weight
  }
  return both / (all || 1)
}

/** Returns the passage that a reply quotes first; undefined without passages. */
export const quotedOf = ({ hits, extract }: Retrieval): Hit | undefined => hits[extract?.quotes[0]?.hit ?? 0]

/**
 * Returns the passages for suggested follow-ups, without the passage quoted first, because its own question is answered. `siblings`: of the quoted document.
 * If it has some, other documents are left out, because they lead to other topics.
 */
export function passagesToGoOn(retrieval: Retrieval, siblings: readonly Omit<Hit, 'score' | 'scores'>[]): Hit[] {
  const { hits, extract } = retrieval
  const quoted = quotedOf(retrieval)
  if (quoted === undefined || (extract !== undefined && extract.confidence < LEAST_SURE)) return []
  const left = new Set([quoted.passageId])
  const hasSiblings = siblings.some(({ passageId }) => passageId !== quoted.passageId)
  const isNear = ({ score, documentId }: Hit): boolean =>
    documentId === quoted.documentId || (!hasSiblings && score >= LEAST_SCORE * hits[0]!.score)
  const near = hits.filter(isNear)
  const passages: Hit[] = []
  for (const passage of [...siblings.map((sibling) => ({ ...sibling, score: quoted.score, scores: {} })), ...near]) {
    if (left.has(passage.passageId)) continue
    left.add(passage.passageId)
    passages.push(passage)
  }
  return passages
}

interface Candidate {
  text: string
  hit: Hit
  stems: Set<string>
}

/** Questions that passages raise. Each is created on demand and cached, because passages may have thousands. */
export class Candidates {
  readonly #made: Candidate[] = []
  readonly #further: Iterator<Candidate>

  /** Undefined if a question may be about anything. */
  readonly #topic: Topic | undefined

  constructor(hits: readonly Hit[], topic?: Topic) {
    this.#further = candidatesOf(hits)
    this.#topic = topic
  }

  /** Stems whose frequencies `isRelated` needs, besides the stems of its question. */
  get stems(): ReadonlySet<string> {
    return this.#topic?.stems ?? new Set()
  }

  /** Returns true if a question with these stems, which a passage answers, is related to the last question and its quotes. */
  isRelated(stems: ReadonlySet<string>, passage: Hit, statistics: TermStatistics): boolean {
    return this.#topic === undefined || this.#topic.includes(stems, passage, statistics)
  }

  *list(): Generator<Candidate> {
    for (let at = 0; at < MOST_LOOKED_AT; at++) {
      if (at === this.#made.length) {
        const { value, done } = this.#further.next()
        if (done === true) return
        this.#made.push(value)
      }
      yield this.#made[at]!
    }
  }
}

/** Yields the best question of each passage, then the second of each, and so on: variety before depth. */
function* candidatesOf(hits: readonly Hit[]): Generator<Candidate> {
  let open = hits.map((hit) => ({ hit, questions: phraseQuestions(hit) }))
  while (open.length > 0) {
    const left: typeof open = []
    for (const one of open) {
      const { value: text, done } = one.questions.next()
      if (done === true) continue
      left.push(one)
      if (text.length <= MAX_CHARS) yield { text, hit: one.hit, stems: stemsOf(text) }
    }
    open = left
  }
}

const stemsOf = (text: string): Set<string> => new Set(contentStems(analyse(text)))

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0
  for (const stem of a) if (b.has(stem)) both++
  return both / Math.max(1, a.size, b.size)
}
