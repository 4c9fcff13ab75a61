import assert from 'node:assert/strict'
import { test } from 'node:test'
import { topSlots } from '../../src/knowledge/query/top-slots.ts'

test('the best slots are those of a sort, at any number of them', () => {
  let state = 7
  const random = (): number => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff
    return state / 0x7fffffff
  }
  // Eighths are exact, and equal scores come up.
  const scores = (n: number) => Float32Array.from({ length: n }, () => (random() < 0.5 ? 0 : Math.floor(random() * 16) / 8))
  for (let slots = 0; slots < 70; slots++) {
    const [first, second] = [scores(slots), scores(slots)]
    const hidden = slots % 3 === 0 ? undefined : Uint8Array.from(first, () => (random() < 0.2 ? 1 : 0))
    const sum = (slot: number): number => first[slot]! + second[slot]!
    const all = Array.from(first.keys()).filter((slot) => sum(slot) > 0 && hidden?.[slot] !== 1)
    const expected = all.map(sum).sort((a, b) => b - a)
    for (const most of [1, 5, 100]) {
      const found = topSlots(first, second, slots, most, hidden)
      assert.deepEqual(found.map(sum), expected.slice(0, most))
      assert.equal(new Set(found).size, found.length)
      assert.ok(found.every((slot) => all.includes(slot)))
    }
  }
})
