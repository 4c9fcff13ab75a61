// Creates a knowledge file of generated passages, or queries one, in its own process. Prints figures as JSON.
//   node bench/search.ts index PATH COUNT
//   node --expose-gc bench/search.ts ask PATH COUNT QUESTIONS
import { statSync } from 'node:fs'
import { extractAnswer } from '../src/knowledge/answer/extract-answer.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { retrieve } from '../src/knowledge/query/retrieve.ts'
import { KnowledgeFile } from '../src/store/knowledge/file.ts'
import { KnowledgeIndex } from '../src/store/knowledge/reader/knowledge-index.ts'
import { indexPassages } from './index-passages.ts'
import { passages, questionOf } from './passages.ts'
import { readIndex } from './read-index.ts'
import { quantile } from './turns.ts'

export interface Made {
  perSecond: number
  fileMb: number
}

export interface Asked {
  p50: number
  p99: number
  cpuMs: number
  answerP99: number
  memoryMb: number
}

/** Warm-up questions, because V8 is still compiling the program. */
const WARM = 200

const [work, path = '', count, questions] = process.argv.slice(2)
if (import.meta.main) console.log(JSON.stringify(work === 'index' ? make(Number(count)) : ask(Number(count), Number(questions))))

function make(count: number): Made {
  const { seconds } = indexPassages(path, passages(count), { whole: true })
  return { perSecond: count / seconds, fileMb: statSync(path).size / 1e6 }
}

function ask(count: number, questions: number): Asked {
  // Different questions about passages from the whole base.
  const texts = Array.from({ length: questions + WARM }, (_, i) => questionOf(Math.floor((i * count) / (questions + WARM))))
  const shuffled = texts.map((_, i) => texts[(i * 7_919) % texts.length]!)
  const before = heldMb()
  const index = new KnowledgeIndex(KnowledgeFile.openToRead(path)!)
  const search = (query: string) => readIndex(index, (read) => retrieve(read, { query, history: [], topK: 10, filter: null }))
  const answer = (question: string) =>
    readIndex(index, function* (read) {
      const retrieval = yield* retrieve(read, { query: question, history: [], topK: 6, filter: null })
      return yield* extractAnswer({ question, history: [], retrieval }, statisticsOf(read))
    })
  const begunCpu = process.cpuUsage()
  const searched = shuffled.map((text) => timed(() => search(text))).slice(WARM)
  const { user, system } = process.cpuUsage(begunCpu)
  const memoryMb = heldMb() - before
  const answered = shuffled.map((text) => timed(() => answer(text))).slice(WARM)
  index.close()
  return {
    p50: quantile(searched, 0.5),
    p99: quantile(searched, 0.99),
    cpuMs: (user + system) / 1_000 / texts.length,
    answerP99: quantile(answered, 0.99),
    memoryMb,
  }
}

/** Returns the memory in use, without the engine's reserve. */
function heldMb(): number {
  // External memory that one collection finds unused is counted until the next collection.
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

function timed(work: () => unknown): number {
  const begun = performance.now()
  work()
  return performance.now() - begun
}
