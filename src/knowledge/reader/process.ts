// The process that reads documents. A worker thread does the work, so that the main thread can measure memory and processor time.
import { getPriority, setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { moduleBeside } from '../../core/platform/module-beside.ts'
import { OUT_OF_MEMORY, type ReadAnswer, type ReadRequest, WARM } from './protocol.ts'

const [memory, warm] = process.argv.slice(2)
const memoryMb = Number(memory)
const MIB = 1_048_576
const LOOK_EVERY_MS = 20
/** Memory checks between two reports of processor time. */
const SAY_EVERY = 5
/** Answers have priority over reading on the same core. */
const NICENESS = 10

// An unprivileged process can only lower its priority, and the parent thread may already have a lower one.
if (getPriority() < NICENESS) setPriority(NICENESS)
const thread = new Worker(moduleBeside(import.meta.url, './thread'), {
  resourceLimits: { maxOldGenerationSizeMb: memoryMb },
  workerData: { isWarm: warm === WARM },
})
const giveUp = () => process.exit(OUT_OF_MEMORY)
const say = (answer: ReadAnswer) => process.send!(answer)
/** Processor time in milliseconds. */
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
let busy = 0
let cpuBefore = 0
let looks = 0
setInterval(() => {
  if (busy === 0) return
  // Memory outside of the heap counts too: images, archives, fonts.
  if (process.memoryUsage.rss() > memoryMb * MIB) giveUp()
  if (looks++ % SAY_EVERY === 0) say({ cpuMs: cpuMs() - cpuBefore })
}, LOOK_EVERY_MS)
thread.on('error', giveUp)
thread.on('message', (answer: ReadAnswer) => {
  if (!('ready' in answer)) busy--
  cpuBefore = cpuMs()
  say(answer)
})
process.on('message', (request: ReadRequest) => {
  if (busy++ === 0) cpuBefore = cpuMs()
  const { content } = request.input
  thread.postMessage(request, content.buffer.byteLength === content.byteLength ? [content.buffer as ArrayBuffer] : [])
})
process.on('disconnect', () => process.exit(0))
