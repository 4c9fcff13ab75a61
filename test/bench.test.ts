import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { goals } from '../bench/goals.ts'
import type { Results } from '../bench/report.ts'

const RUN = fileURLToPath(new URL('../bench/run.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'repartee-bench-test-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const bench = (...args: string[]) => promisify(execFile)(process.execPath, [RUN, ...args])

test('the bench runs to its end, prints its table, keeps what it measured and compares it with the run before', async () => {
  const out = join(folder, 'results.json')
  const quick = ['--quick', '--engines', 'sqlite', '--rounds', '1', '--seconds', '0.2', '--out', out, '--only']
  const { stdout } = await bench(...quick, 'create,history')
  const { figures } = JSON.parse(readFileSync(out, 'utf8')) as Results
  assert.deepEqual(Object.keys(figures), ['sqlite/create', 'sqlite/history'])
  for (const { id, value, ratio } of Object.values(figures)) {
    assert.ok(value > 0 && ratio! > 0, `${id}: ${value}, ${ratio}`)
    assert.match(stdout, new RegExp(`${goals[id]!.what} .* x .*at most`))
  }
  assert.doesNotMatch(stdout, / %$/m)
  assert.match((await bench(...quick, 'create')).stdout, / %$/m)
})

test('the bench says which names it knows', async () => {
  await assert.rejects(bench('--only', 'nothing'), /the names are requests, create/)
})
