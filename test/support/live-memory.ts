// For `--import`: on SIGUSR2, a process collects its garbage and appends the bytes still in use to the file LIVE_MEMORY.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.LIVE_MEMORY

// Resident memory is no measure: it includes uncollected garbage, which can be many times as much.
if (path !== undefined && isMainThread) {
  process.on('SIGUSR2', () => {
    globalThis.gc!()
    const { heapUsed, external } = process.memoryUsage()
    appendFileSync(path, `${heapUsed + external}\n`)
  })
}
