// For `--import`: the thread that answers questions takes all the memory that it may have when the file appears that TEST_EXHAUST names.
import { existsSync, rmSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const { TEST_EXHAUST: path } = process.env
// That of the questions has no rules for fetching pages.
const isQuestions = !isMainThread && workerData?.place !== undefined && workerData.fetch === undefined
if (isQuestions && path !== undefined) {
  setInterval(() => {
    if (!existsSync(path)) return
    rmSync(path)
    const all: number[][] = []
    for (;;) all.push(Array.from({ length: 100_000 }, (_, i) => i + Math.random()))
  }, 10).unref()
}
