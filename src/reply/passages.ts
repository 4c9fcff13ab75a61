import type { Hit, Retrieval } from '../core/ports/retrieval.ts'
import { estimateTokens } from '../core/tokens.ts'

/**
 * The share of the best score below which a passage is left out. On seven test collections in twelve languages those below held what answers in
 * three questions of a thousand at most, and were a tenth to a half of the tokens; from 0.5 on answers are lost.
 */
const LEAST_SHARE = 0.4
/** A passage of which so much stands in better ones adds nothing. */
const REPEATED_SHARE = 0.8

/** Of the passages found those that go into a prompt, and can be cited: the best ones that fit, at least one. */
export const passagesFor = (retrieval: Retrieval, maxTokens: number): Hit[] =>
  fitting(unrepeated(earningTheirPlace(retrieval)), maxTokens)

/** Only scores by words fall off with what a passage is worth; the others say no more than the order. */
function earningTheirPlace({ hits, mode, isReranked }: Retrieval): Hit[] {
  if (mode === 'hybrid' || isReranked === true) return hits
  return hits.filter(({ score }) => score >= LEAST_SHARE * hits[0]!.score)
}

/** Documents are kept in several versions, and pages of a site repeat each other. */
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
