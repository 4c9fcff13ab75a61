/** Returns how much a term says by being rare: the inverse document frequency of BM25, never negative. `frequency`: passages that hold it. */
export function idfOf(passages: number, frequency: number): number {
  const known = Math.min(frequency, passages)
  return Math.log(1 + (passages - known + 0.5) / (known + 0.5))
}
