// For `--import`: when the file appears that TEST_EXHAUST names, the thread that answers questions takes all the memory that it may have; with `.writer` behind
// its name, the thread that writes ends.
import { existsSync, rmSync } from 'node:fs'
import { isMainThread, workerData } from 'node:worker_threads'

const { TEST_EXHAUST } = process.env
// That of the questions has no rules for fetching pages; that which writes is given nothing but the path of the database.
const isQuestions = !isMainThread && workerData?.place !== undefined && workerData.fetch === undefined
const isWriter = !isMainThread && typeof workerData === 'string' && workerData.endsWith('repartee.db')
if ((isQuestions || isWriter) && TEST_EXHAUST !== undefined) {
  const path = isWriter ? `${TEST_EXHAUST}.writer` : TEST_EXHAUST
  setInterval(() => {
    if (!existsSync(path)) return
    rmSync(path)
    if (isWriter) process.exit(1)
    const all: number[][] = []
    for (;;) all.push(Array.from({ length: 100_000 }, (_, i) => i + Math.random()))
  }, 10).unref()
}
