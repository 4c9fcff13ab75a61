import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Figure, Scenario } from '../figures.ts'
import { runProgram } from '../processes.ts'
import type { Asked, Made } from '../search.ts'
import { here, Stage } from '../stage.ts'
import { median } from '../turns.ts'

const SIZES = { quick: [1_000, 10_000], usual: [1_000, 10_000, 100_000], full: [1_000, 10_000, 100_000, 1_000_000] }
const QUESTIONS = { quick: 400, usual: 2_000, full: 2_000 }
const PROGRAM = here('search.ts')

/** Measures search time, indexing speed and index size as the knowledge grows. */
export const search: Scenario = {
  name: 'search',
  figures: [],
  async run({ size, rounds, tell }) {
    const stage = new Stage()
    const seen: { count: number; made: Made; asked: Asked }[] = []
    try {
      for (const count of SIZES[size]) {
        tell(`search in ${count.toLocaleString('en')} passages`)
        const path = join(stage.folder, `${count}.db`)
        const made: Made = JSON.parse(await runProgram([PROGRAM, 'index', path, String(count)]))
        const ask = () => runProgram(['--expose-gc', PROGRAM, 'ask', path, String(count), String(QUESTIONS[size])])
        const all: Asked[] = []
        for (let round = 0; round < rounds; round++) all.push(JSON.parse(await ask()))
        const middle = (pick: (asked: Asked) => number) => median(all.map(pick))
        seen.push({
          count,
          made,
          asked: {
            p50: middle(({ p50 }) => p50),
            p99: middle(({ p99 }) => p99),
            cpuMs: middle(({ cpuMs }) => cpuMs),
            answerP99: middle(({ answerP99 }) => answerP99),
            memoryMb: middle(({ memoryMb }) => memoryMb),
          },
        })
        rmSync(path)
      }
    } finally {
      await stage.end()
    }
    return seen.flatMap(({ count, made, asked }): Figure[] => [
      { id: `search-${count}-p50`, value: asked.p50, more: { cpuMs: asked.cpuMs } },
      { id: `search-${count}-p99`, value: asked.p99 },
      { id: `answer-${count}-p99`, value: asked.answerP99 },
      { id: `index-${count}`, value: made.perSecond },
      { id: `file-${count}`, value: made.fileMb },
      { id: `memory-${count}`, value: asked.memoryMb },
    ])
  },
}
