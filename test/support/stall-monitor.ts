// For `--import`: each thread of a process appends a line to the file STALL_LOG whenever it was busy for long without a pause.
import { appendFileSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

/** Milliseconds of the processor. Less is not worth a line. */
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
    // Time of the processor and not of the clock: what else the machine does is not counted.
    if (now - last >= LEAST_MS) appendFileSync(path, `${thread} ${Math.round(now - last)}\n`)
    last = cpuMs()
  }, 1).unref()
}
