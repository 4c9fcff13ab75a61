// No text holds up a thread that others need. A short form of `node bench/stalls.ts`, which measures every shape.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { needsProcess } from './support/service.ts'
import { StallScan, type Way } from './support/stall-scan.ts'
import { FEW_SHAPES, fill } from './support/stall-shapes.ts'

/** Of the processor. Work that takes longer is looked at more closely. */
const LONG_MS = 50
/** Work that is linear takes 4 times as long for 4 times the text, work that takes the square of it 16 times. */
const SHORTER = 4
const MOST_TIMES = 9
const LEAST_MS = 20
const LOOKS = 3

test('no text takes more than its length of a thread that others need', { skip: needsProcess }, async () => {
  const scan = await StallScan.start()
  after(() => scan.service.stop())
  const busyMs = async (way: Way, text: string) => {
    const { busy } = await scan.look(way, text)
    return Math.max(busy.get('main') ?? 0, busy.get('questions') ?? 0)
  }
  const least = async (way: Way, text: string) => {
    const looks: number[] = []
    for (let i = 0; i < LOOKS; i++) looks.push(await busyMs(way, text))
    return Math.min(...looks)
  }
  const slow: string[] = []
  for (const way of await scan.ways()) {
    await scan.look(way, 'warm')
    for (const shape of FEW_SHAPES) {
      if ((await busyMs(way, fill(shape, way.maxChars))) <= LONG_MS) continue
      const short = Math.max(LEAST_MS, await least(way, fill(shape, Math.ceil(way.maxChars / SHORTER))))
      const whole = await least(way, fill(shape, way.maxChars))
      if (whole > MOST_TIMES * short) slow.push(`${way.name}, ${JSON.stringify(shape)}: ${short} ms became ${whole} ms`)
    }
  }
  assert.deepEqual(slow, [])
})
