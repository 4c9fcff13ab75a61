// The process that reads documents: a thread of it does the work, so that this one can watch what that takes and say so.
import { getPriority, setPriority } from 'node:os'
import { Worker } from 'node:worker_threads'
import { moduleBeside } from '../../core/module-beside.ts'
import { OUT_OF_MEMORY, type ReadAnswer, type ReadRequest } from './protocol.ts'

const [memoryMb] = process.argv.slice(2).map(Number) as [number]
const MIB = 1_048_576
const LOOK_EVERY_MS = 20
/** Answering goes before reading, where both want the same core. */
const NICENESS = 10

// A process without special rights may only lower its priority, and the thread that started this one may have a lower one already.
if (getPriority() < NICENESS) setPriority(NICENESS)
const thread = new Worker(moduleBeside(import.meta.url, './thread'), {
  resourceLimits: { maxOldGenerationSizeMb: memoryMb },
})
const giveUp = () => process.exit(OUT_OF_MEMORY)
let busy = 0
// Memory outside of the heap counts too: images, archives, fonts.
setInterval(() => {
  if (busy > 0 && process.memoryUsage.rss() > memoryMb * MIB) giveUp()
}, LOOK_EVERY_MS)
thread.on('error', giveUp)
thread.on('message', (answer: ReadAnswer) => {
  if (!('ready' in answer)) busy--
  process.send!(answer)
})
process.on('message', (request: ReadRequest) => {
  busy++
  const { content } = request.input
  thread.postMessage(request, content.buffer.byteLength === content.byteLength ? [content.buffer as ArrayBuffer] : [])
})
process.on('disconnect', () => process.exit(0))
