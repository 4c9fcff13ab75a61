/** Returns the inverse document frequency (BM25) of a term, never negative. `frequency`: number of passages that contain the term. */
export function idfOf(passages: number, frequency: number): number {
  const known = Math.min(frequency, passages)
  return Math.log(1 + (passages - known + 0.5) / (known + 0.5))
}
