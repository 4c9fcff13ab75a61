/** A passage by slot, with its score and the parts of the score by name. */
export interface Ranked {
  slot: number
  score: number
  scores: Record<string, number>
}

/** A passage by slot, with the cosine of its vector and the question's vector. */
export interface NearSlot {
  slot: number
  cosine: number
}

/** Weight of the cosines, 0 to 1. The scores by words get the rest. */
export const VECTOR_WEIGHT = 0.5

/**
 * Merges two rankings: averages the scores by words, as a share of the best, and the cosines, as a share of their range (min-max fusion, which beats
 * rank fusion on most public collections). `cosines` contains all passages of both rankings.
 */
export function fuse(lexical: readonly Ranked[], cosines: ReadonlyMap<number, number>, weight = VECTOR_WEIGHT): Ranked[] {
  const best = lexical[0]?.score ?? 0
  const bySlot = new Map(lexical.map((ranked) => [ranked.slot, ranked]))
  const values = [...cosines.values()]
  const least = Math.min(...values)
  const range = Math.max(...values) - least
  const fused = [...new Set([...bySlot.keys(), ...cosines.keys()])].map((slot) => {
    const ranked = bySlot.get(slot)
    const cosine = cosines.get(slot)
    const words = best > 0 ? (ranked?.score ?? 0) / best : 0
    const meaning = cosine === undefined ? 0 : range > 0 ? (cosine - least) / range : 1
    return {
      slot,
      score: (1 - weight) * words + weight * meaning,
      scores: { ...ranked?.scores, ...(cosine === undefined ? {} : { cosine }) },
    }
  })
  const words = (slot: number) => bySlot.get(slot)?.score ?? 0
  return fused.sort((a, b) => b.score - a.score || words(b.slot) - words(a.slot) || a.slot - b.slot)
}
