// For `--import`: a process collects its garbage when it is sent SIGUSR2, and appends the bytes that are still held to the file LIVE_MEMORY.
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const path = process.env.LIVE_MEMORY

// The resident memory says little: it holds what was not collected yet, which may be many times as much.
if (path !== undefined && isMainThread) {
  process.on('SIGUSR2', () => {
    globalThis.gc!()
    const { heapUsed, external } = process.memoryUsage()
    appendFileSync(path, `${heapUsed + external}\n`)
  })
}
