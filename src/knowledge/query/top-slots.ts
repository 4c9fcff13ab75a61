/** Returns the slots with the highest sum of both scores, best first. Leaves out slots without a score, and hidden ones (1). */
export function topSlots(
  first: Float32Array,
  second: Float32Array,
  slots: number,
  most: number,
  hidden: Uint8Array | undefined,
): number[] {
  // A heap with the lowest of the best scores on top.
  const heap: number[] = []
  const scores: number[] = []
  let least = 0
  for (
    let slot = nextAbove(least, first, second, 0, slots);
    slot < slots;
    slot = nextAbove(least, first, second, slot + 1, slots)
  ) {
    if (hidden !== undefined && hidden[slot] === 1) continue
    const score = first[slot]! + second[slot]!
    if (heap.length < most) {
      heap.push(slot)
      scores.push(score)
      siftUp(heap, scores)
      if (heap.length === most) least = scores[0]!
    } else {
      heap[0] = slot
      scores[0] = score
      siftDown(heap, scores)
      least = scores[0]!
    }
  }
  return heap
    .map((slot, i) => ({ slot, score: scores[i]! }))
    .sort((a, b) => b.score - a.score || a.slot - b.slot)
    .map(({ slot }) => slot)
}

/** Returns the first slot from `from` on with a sum above `least`, or `slots` if there is none. Checks four at a time, because nearly all are skipped. */
function nextAbove(least: number, first: Float32Array, second: Float32Array, from: number, slots: number): number {
  let slot = from
  for (; slot + 3 < slots; slot += 4) {
    if (
      first[slot]! + second[slot]! > least ||
      first[slot + 1]! + second[slot + 1]! > least ||
      first[slot + 2]! + second[slot + 2]! > least ||
      first[slot + 3]! + second[slot + 3]! > least
    )
      break
  }
  while (slot < slots && first[slot]! + second[slot]! <= least) slot++
  return slot
}

function siftUp(heap: number[], scores: number[]): void {
  for (let at = heap.length - 1; at > 0; ) {
    const parent = (at - 1) >> 1
    if (scores[parent]! <= scores[at]!) return
    swap(heap, scores, at, parent)
    at = parent
  }
}

function siftDown(heap: number[], scores: number[]): void {
  for (let at = 0; ; ) {
    const left = 2 * at + 1
    if (left >= heap.length) return
    const child = left + 1 < heap.length && scores[left + 1]! < scores[left]! ? left + 1 : left
    if (scores[at]! <= scores[child]!) return
    swap(heap, scores, at, child)
    at = child
  }
}

function swap(heap: number[], scores: number[], a: number, b: number): void {
  const slot = heap[a]!
  const score = scores[a]!
  heap[a] = heap[b]!
  scores[a] = scores[b]!
  heap[b] = slot
  scores[b] = score
}
