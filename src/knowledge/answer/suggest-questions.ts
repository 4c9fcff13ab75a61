import type { Hit, Retrieval, SuggestInput, Suggestion } from '../../core/ports/retrieval.ts'
import { ANSWER_THRESHOLD } from '../../core/ports/retrieval.ts'
import { analyse, contentStems } from '../../text/analyse.ts'
import { idfOf } from '../query/idf.ts'
import { lastHeading } from './passage-features.ts'
import { phraseQuestions } from './phrase-questions.ts'
import type { TermStatistics } from './question-terms.ts'

// Asking costs a retrieval each, about a millisecond: enough candidates for three good ones, and an end to it.
const MOST_ASKED = 24
/** Candidates that are much like an earlier question are not asked. Passages may raise thousands of them. */
const MOST_LOOKED_AT = 240
const MAX_CHARS = 120
/** A passage of another document that scores less than this share of the best one is about something else. */
const LEAST_SCORE = 0.5
/** After a reply that is less likely right, its document is no guide to what is asked next. */
const LEAST_SURE = 0.65
/** Sections of a document that are looked at behind the one that was quoted, and from its beginning. */
export const SIBLINGS = 8
/** Two questions with more of their stems in common than this ask the same. */
const SAME = 0.6
/** A question with less of its words, by idf, in the last question and what was quoted is about something else. */
const LEAST_SAID = 0.2
/** So is a passage with less of the words of the last question. */
const LEAST_OF_QUESTION = 0.3

/**
 * Questions to go on with that the base can answer: made from the passages found, and each asked before it is offered (`ask`). One is kept if what
 * it finds best is the passage that it came from with a confidence above the threshold.
 * At most `count`; rather none than a broken one. Deterministic. `candidates`: of the passages; pass the same ones in each turn.
 */
export function suggestQuestions(
  input: SuggestInput,
  ask: (query: string) => Retrieval,
  candidates: Candidates,
  statistics: TermStatistics,
): Suggestion[] {
  const quoted = quotedOf(input.retrieval)
  const answered = quoted === undefined ? [] : [quoted.title, lastHeading(quoted)]
  const taken = [...input.asked, ...answered].map(stemsOf).filter(({ size }) => size > 0)
  const offered: Suggestion[] = []
  let asked = 0
  for (const { text, hit, stems } of candidates.list()) {
    if (offered.length >= input.count || asked >= MOST_ASKED) break
    if (stems.size === 0 || taken.some((other) => overlap(stems, other) > SAME) || !candidates.isRelated(stems, hit, statistics))
      continue
    asked++
    const found = ask(text)
    const best = found.hits[0]
    if (best === undefined || best.passageId !== hit.passageId || found.confidence < ANSWER_THRESHOLD) continue
    taken.push(stems)
    offered.push({ text, confidence: found.confidence })
  }
  return offered
}

/** What a reply quotes; of one by a language model, the best passage. */
function textsOf({ hits, extract }: Retrieval): string[] {
  if (extract !== undefined) return extract.quotes.map(({ text }) => text)
  return hits.slice(0, 1).map(({ text }) => text)
}

/** Questions to go on with after a reply. `siblings`: as for `passagesToGoOn`. */
export function candidatesAfter(
  { asked, retrieval }: SuggestInput,
  siblings: readonly Omit<Hit, 'score' | 'scores'>[],
): Candidates {
  return new Candidates(passagesToGoOn(retrieval, siblings), new Topic(asked.at(-1) ?? '', textsOf(retrieval)))
}

/** What was asked and quoted last. Exported for tests. */
export class Topic {
  readonly #question: ReadonlySet<string>
  readonly #said: ReadonlySet<string>
  /** By passage. */
  readonly #held = new Map<string, ReadonlySet<string>>()

  constructor(question: string, quoted: readonly string[]) {
    this.#question = stemsOf(question)
    this.#said = new Set([...this.#question, ...quoted.flatMap((text) => [...stemsOf(text)])])
  }

  /** A question with these stems, which a passage answers, has to do with it. */
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

/** Even a word of every passage says something: small bases have one topic. */
const LEAST_WEIGHT = 1

/** The part of `stems` that `others` hold, by idf. */
function shareIn(others: ReadonlySet<string>, stems: ReadonlySet<string>, statistics: TermStatistics): number {
  let [both, all] = [0, 0]
  for (const stem of stems) {
    const weight = LEAST_WEIGHT + idfOf(statistics.passages, statistics.frequency(stem))
    all += weight
    if (others.has(stem)) both += weight
  }
  return both / (all || 1)
}

/** The passage that a reply quotes first; undefined without passages. */
export const quotedOf = ({ hits, extract }: Retrieval): Hit | undefined => hits[extract?.quotes[0]?.hit ?? 0]

/**
 * The passages that questions to go on with are made of: not the one that was quoted first, since its own question is answered. `siblings`: of the document that was
 * quoted; where it has some, other documents are left out, because they lead to other topics.
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

/** Questions that passages raise. Each is made when it is needed, and remembered: passages may hold thousands. */
export class Candidates {
  readonly #made: Candidate[] = []
  readonly #further: Iterator<Candidate>

  /** Undefined where a question may be about anything. */
  readonly #topic: Topic | undefined

  constructor(hits: readonly Hit[], topic?: Topic) {
    this.#further = candidatesOf(hits)
    this.#topic = topic
  }

  /** A question with these stems, which a passage answers, has to do with what was asked and quoted. */
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

/** First what each passage offers best, then what it offers next: variety before depth. */
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
