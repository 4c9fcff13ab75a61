// For `--import`: when the file named by TEST_EXHAUST appears, the thread that answers questions uses up its memory.
import { existsSync, rmSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const { TEST_EXHAUST } = process.env
// The question thread has no settings for fetching pages.
const isQuestions = !isMainThread && workerData?.place !== undefined && workerData.fetch === undefined
if (isQuestions && TEST_EXHAUST !== undefined) {
  setInterval(() => {
    if (!existsSync(TEST_EXHAUST)) return
    rmSync(TEST_EXHAUST)
    const all: number[][] = []
    for (;;) all.push(Array.from({ length: 100_000 }, (_, i) => i + Math.random()))
  }, 10).unref()
}
