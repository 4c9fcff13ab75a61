import type { Hit, Retrieval, SuggestInput, Suggestion } from '../../core/retrieval.ts'
import { ANSWER_THRESHOLD } from '../../core/retrieval.ts'
import { analyse, contentStems } from '../../text/analyse.ts'
import { phraseQuestions } from './phrase-questions.ts'

// Asking costs a retrieval each, about a millisecond: enough candidates for three good ones, and an end to it.
const MOST_ASKED = 24
const MAX_CHARS = 120
/** A passage of another document that scores less than this share of the best one is about something else. */
const LEAST_SCORE = 0.25
/** Two questions with more of their stems in common than this ask the same. */
const SAME = 0.6

/**
 * Questions to go on with that the base can answer: made from the passages found, and each asked before it is offered (`ask`). One is kept if what
 * it finds best is the passage that it came from with a confidence above the threshold.
 * At most `count`; rather none than a broken one. Deterministic.
 */
export function suggestQuestions(input: SuggestInput, ask: (query: string) => Retrieval): Suggestion[] {
  const taken = input.asked.map(stemsOf)
  const offered: Suggestion[] = []
  let asked = 0
  for (const { text, hit } of candidatesOf(input.retrieval.hits)) {
    if (offered.length >= input.count || asked >= MOST_ASKED) break
    const stems = stemsOf(text)
    if (stems.size === 0 || text.length > MAX_CHARS || taken.some((other) => overlap(stems, other) > SAME)) continue
    asked++
    const found = ask(text)
    const best = found.hits[0]
    if (best === undefined || best.passageId !== hit.passageId || found.confidence < ANSWER_THRESHOLD) continue
    taken.push(stems)
    offered.push({ text, confidence: found.confidence })
  }
  return offered
}

/** First what each passage offers best, then what it offers next: variety before depth. */
function candidatesOf(hits: readonly Hit[]): { text: string; hit: Hit }[] {
  const isNear = ({ score, documentId }: Hit) => score >= LEAST_SCORE * hits[0]!.score || documentId === hits[0]!.documentId
  const near = hits.filter(isNear)
  const byHit = near.map((hit) => phraseQuestions(hit).map((text) => ({ text, hit })))
  const most = Math.max(0, ...byHit.map((questions) => questions.length))
  return Array.from({ length: most }, (_, rank) => byHit.flatMap((questions) => questions[rank] ?? [])).flat()
}

const stemsOf = (text: string): Set<string> => new Set(contentStems(analyse(text)))

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0
  for (const stem of a) if (b.has(stem)) both++
  return both / Math.max(1, Math.min(a.size, b.size))
}
