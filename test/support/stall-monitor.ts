// For `--import`: each thread of a process appends a line to the file STALL_LOG when it was busy for long without a pause.
import { appendFileSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

/** Milliseconds of processor time. Shorter stalls are not logged. */
const LEAST_MS = 20
const path = process.env.STALL_LOG

const threadOf = (data: object | null | undefined): string => {
  if (isMainThread) return 'main'
  if (data === null || data === undefined || !('place' in data)) return 'other'
  return 'crawlDelayMs' in data ? 'ingest' : 'questions'
}
const thread = threadOf(workerData)

const cpuMs = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

if (path !== undefined) {
  let last = cpuMs()
  setInterval(() => {
    const now = cpuMs()
    // Processor time, not wall time, so that the machine's other load does not count.
    if (now - last >= LEAST_MS) appendFileSync(path, `${thread} ${Math.round(now - last)}\n`)
    last = cpuMs()
  }, 1).unref()
}
