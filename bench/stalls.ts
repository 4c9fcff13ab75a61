// Finds texts that block a shared thread. Sends texts of some hundred shapes, as long as the limits allow, through every field of the
// contract and as model replies. Prints what blocked the main thread for more than 50 ms of processor time, or the search thread for more
// than 100 ms. Exits with 1 if a text did so three times in a row.
//   node bench/stalls.ts [PART OF A NAME]
import { StallScan } from '../test/support/stall-scan.ts'
import { fill, SHAPES } from '../test/support/stall-shapes.ts'

const MOST_MS: Record<string, number> = { main: 50, questions: 100 }
const LOOKS = 3

const [only = ''] = process.argv.slice(2)
const scan = await StallScan.start()
const ways = (await scan.ways()).filter(({ name }) => name.includes(only))
const longest: { thread: string; ms: number; what: string }[] = []
const over: string[] = []
const neverTaken: string[] = []
for (const way of ways) {
  await scan.look(way, 'warm')
  let taken = 0
  for (const shape of SHAPES) {
    const text = fill(shape, way.maxChars)
    const { status, busy } = await scan.look(way, text)
    if (status < 400) taken++
    for (let i = 1; i < LOOKS && isOver(busy); i++) {
      const again = await scan.look(way, text)
      for (const [thread, ms] of busy) busy.set(thread, Math.min(ms, again.busy.get(thread) ?? 0))
    }
    for (const [thread, ms] of busy) longest.push({ thread, ms, what: `${way.name} ${JSON.stringify(shape)}` })
    if (isOver(busy))
      over.push(`${way.name} ${JSON.stringify(shape)}: ${[...busy].map(([thread, ms]) => `${thread} ${ms} ms`).join(', ')}`)
  }
  if (taken === 0) neverTaken.push(way.name)
}
await scan.service.stop()
console.log(`${ways.length} ways in, ${SHAPES.length} shapes`)
console.log(`always refused: ${neverTaken.join('; ') || 'none'}`)
for (const thread of Object.keys(MOST_MS)) {
  const five = longest
    .filter((top) => top.thread === thread)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, 5)
  console.log(`${thread}: longest ${five.map(({ ms, what }) => `${ms} ms (${what})`).join('; ') || 'less than 20 ms'}`)
}
console.log(over.length === 0 ? 'none over the bounds' : over.join('\n'))
process.exitCode = over.length === 0 ? 0 : 1

function isOver(busy: Map<string, number>): boolean {
  return [...busy].some(([thread, ms]) => ms > (MOST_MS[thread] ?? Number.POSITIVE_INFINITY))
}
