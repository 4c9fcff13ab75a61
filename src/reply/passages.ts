import type { Hit, Retrieval } from '../core/ports/retrieval.ts'
import { estimateTokens } from '../core/tokens.ts'

/**
 * The share of the best score below which a passage is left out. Measured on seven test collections in twelve languages: such passages
 * contained the answer to at most 0.3 % of the questions. They were 10 % to 50 % of the tokens. From 0.5 on, answers are lost.
 */
const LEAST_SHARE = 0.4
/** A passage adds nothing if better ones contain this share of it. */
const REPEATED_SHARE = 0.8

/** Returns the passages that go into a prompt and can be cited: the best ones that fit, at least one. */
export const passagesFor = (retrieval: Retrieval, maxTokens: number): Hit[] =>
  fitting(unrepeated(earningTheirPlace(retrieval)), maxTokens)

/** Filters by score only for word search, where scores decrease with relevance. Other scores only give the order. */
function earningTheirPlace({ hits, mode, isReranked }: Retrieval): Hit[] {
  if (mode === 'hybrid' || isReranked === true) return hits
  return hits.filter(({ score }) => score >= LEAST_SHARE * hits[0]!.score)
}

/** Removes repeated passages: documents exist in several versions, and pages of a site repeat each other. */
function unrepeated(hits: Hit[]): Hit[] {
  const said = new Set<string>()
  return hits.filter(({ text }) => {
    const sentences = text.split(SENTENCE_ENDS).map((sentence) => sentence.trim())
    const repeated = sentences.reduce((sum, sentence) => sum + (said.has(sentence) ? sentence.length : 0), 0)
    const whole = sentences.reduce((sum, { length }) => sum + length, 0)
    for (const sentence of sentences) said.add(sentence)
    return whole === 0 || repeated < REPEATED_SHARE * whole
  })
}

const SENTENCE_ENDS = /\n+|(?<=[.!?] )|(?<=[。！？])/u

function fitting(hits: Hit[], tokens: number): Hit[] {
  let room = tokens
  const end = hits.findIndex(({ text }, i) => {
    room -= estimateTokens(text)
    return room < 0 && i > 0
  })
  return end === -1 ? hits : hits.slice(0, end)
}
