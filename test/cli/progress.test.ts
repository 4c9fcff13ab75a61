import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Terminal } from '../../src/cli/command.ts'
import { Progress } from '../../src/cli/progress.ts'
import { inTerminal } from '../support/pseudo-terminal.ts'
import { type Service, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'

describe('how long work goes', () => {
  /** What it tells whoever looks on, or not, of steps at these seconds. */
  function told(isWatched: boolean, steps: [second: number, done: number][]): string[] {
    const lines: string[] = []
    let now = 0
    const keep = (text: string) => void lines.push(text)
    const progress = new Progress({ isWatched, status: keep, err: keep } as Partial<Terminal> as Terminal, () => now)
    for (const [second, done] of steps) {
      now = second * 1000
      progress.show('asking', done, 100, 'questions')
    }
    return lines
  }

  test('is a bar with what is left where somebody looks on', () => {
    assert.deepEqual(told(true, [[0, 0], [1, 10], [30, 25], [60, 10]]), [
      `[${'░'.repeat(30)}] 0/100 questions  asking`,
      `[${'█'.repeat(3)}${'░'.repeat(27)}] 10/100 questions  asking`,
      `[${'█'.repeat(7)}${'░'.repeat(23)}] 25/100 questions, 2 min left  asking`,
      // It began anew: what went before says nothing of what is left.
      `[${'█'.repeat(3)}${'░'.repeat(27)}] 10/100 questions  asking`,
    ]) // biome-ignore format: one step a line
  })

  test('is a line every ten seconds elsewhere, and none of what is short', () => {
    assert.deepEqual(told(false, [[0, 0], [9, 10], [10, 20], [15, 30], [21, 50], [29, 100]]), [
      'asking: 20/100 questions, 40 s left',
      'asking: 50/100 questions, 21 s left',
    ]) // biome-ignore format: one step a line
  })
})

describe('in a terminal', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-progress-'))
  const docs = join(folder, 'docs')
  let service: Service
  before(async () => {
    mkdirSync(docs)
    for (const day of ['Monday', 'Tuesday']) writeFileSync(join(docs, `${day}.md`), `# ${day}\n\nOn ${day} we eat soup.\n`)
    writeFileSync(join(folder, 'questions.jsonl'), '{"question":"What do we eat on Monday?","answers":["soup"]}\n')
    service = await startService()
    await service.newAgent({ name: 'Cook', model: 'extractive' })
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const full = '█'.repeat(30)
  const cases: { args: () => string[]; shows: RegExp; ends: RegExp }[] = [
    { args: () => ['knowledge', 'add', 'Cook', docs], shows: new RegExp(`\\[${full}\\] 2/2 files {2}indexing`), ends: /2 ready/ },
    { args: () => ['knowledge', 'sync', 'Cook', docs], shows: new RegExp(`\\[${full}\\] 2/2 files {2}sending`), ends: /2 known/ },
    {
      args: () => ['eval', 'Cook', join(folder, 'questions.jsonl')],
      shows: new RegExp(`\\[${full}\\] 1/1 questions {2}asking`),
      ends: /1 of 1 right/,
    },
    { args: () => ['check'], shows: /\[█*░*\] \d+ % {2}reading conversations/, ends: /sound/ },
    { args: () => ['backup', join(folder, 'saved')], shows: /\[█+░*\] \d+ % {2}copying knowledge\//, ends: /Backed up/ },
  ]
  for (const { args, shows, ends } of cases) {
    test(`${args().slice(0, 2).join(' ')} shows a bar, and takes it away`, async () => {
      const { ended, shown } = inTerminal(args(), { REPARTEE_DATA: service.data })
      assert.equal(await ended, 0, shown())
      assert.match(shown(), shows)
      assert.match(shown().slice(shown().lastIndexOf('\r\x1b[K')), ends)
    })
  }

  test('no bar is printed where nobody looks on', async () => {
    const { code, stdout, stderr } = await repartee(['eval', 'Cook', join(folder, 'questions.jsonl')], {
      REPARTEE_DATA: service.data,
    })
    assert.equal(code, 0)
    assert.doesNotMatch(stdout + stderr, /[█░\r\x1b]/)
  })
})
