// Changes of knowledge bases share transactions, and none of them holds up the others.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Changes } from '../../src/knowledge/ingest/changes.ts'
import { INDEX_LIMITS } from '../../src/knowledge/ingest/index-documents.ts'
import { limitsFor } from '../../src/knowledge/ingest/write-documents.ts'
import type { KnowledgeBase } from '../../src/store/knowledge/base.ts'
import { BaseBusy } from '../../src/store/knowledge/base.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { removedAtExit } from '../support/cleanup.ts'

/** Changes of files, and how many transactions there were. */
function open() {
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-changes-')))
  const files = new Map<string, KnowledgeFile>()
  const counted = { transactions: 0 }
  const changes = new Changes({
    clock: Date.now,
    changed() {},
    // Agents belong to the key of their first letter.
    ownerOf: (agentId) => `${agentId[0]}/${agentId}`,
    open(agentId) {
      const known = files.get(agentId)
      if (known !== undefined) return known
      const file = KnowledgeFile.openToWrite(join(folder, `${agentId}.db`))
      const write = file.write.bind(file)
      file.write = (work, options) => {
        counted.transactions++
        return write(work, options)
      }
      files.set(agentId, file)
      return file
    },
  })
  return { changes, counted, files }
}
const addWord = (word: string) => (base: KnowledgeBase) =>
  base.insert({ into: 'language', columns: ['code', 'passages'] }, word, 1)

test('changes that are refused fail alone, and the others go on to share transactions', async () => {
  const { changes, counted, files } = open()
  const refused = new Set([0, 7, 50, 99])
  const all = await Promise.allSettled(
    Array.from({ length: 100 }, (_, i) =>
      changes.commit('one', (file) => {
        addWord(`w${i}`)(file)
        if (refused.has(i)) throw new Error(`${i} is refused`)
        return i
      }),
    ),
  )
  for (const [i, result] of all.entries())
    assert.deepEqual(
      result.status === 'fulfilled' ? result.value : (result.reason as Error).message,
      refused.has(i) ? `${i} is refused` : i,
    )
  assert.equal(files.get('one')!.get<{ n: number }>('SELECT count(*) AS n FROM language')!.n, 96)
  assert.ok(counted.transactions < 50, `${counted.transactions} transactions`)
})

test('many changes of one agent leave others their turn', async () => {
  const { changes } = open()
  const done: string[] = []
  const slow = Array.from({ length: 100 }, (_, i) =>
    changes
      .commit('one', (file) => {
        addWord(`w${i}`)(file)
        for (const until = performance.now() + 2; performance.now() < until; );
      })
      .then(() => done.push('one')),
  )
  const other = changes.commit('other', addWord('w')).then(() => done.push('other'))
  await Promise.all([...slow, other])
  assert.ok(done.indexOf('other') < 50, `${done.indexOf('other')} others came before`)
})

test('changes of many agents of one key leave other keys their turn', async () => {
  const { changes, files } = open()
  const done: string[] = []
  const commit = (agentId: string) => changes.commit(agentId, addWord('w')).then(() => done.push(agentId))
  const agents = Array.from({ length: 20 }, (_, i) => `k${i}`)
  await Promise.all([...agents, 'v'].map(commit))
  assert.equal(done.indexOf('v'), 1)
  assert.deepEqual([...files.keys()].sort(), [...agents, 'v'].sort())
})

test('changes of a base that another process is changing wait, in their order, and the others do not', async () => {
  const { changes, files } = open()
  await changes.commit('k1', () => {})
  const file = files.get('k1')!
  const write = file.write
  let left = 3
  file.write = (work, options) => {
    if (left-- > 0) throw new BaseBusy()
    return write(work, options)
  }
  const done: string[] = []
  const commit = (agentId: string, name: string) => changes.commit(agentId, addWord(name)).then(() => done.push(name))
  await Promise.all([...['a', 'b', 'c'].map((name) => commit('k1', name)), commit('k2', 'other')])
  assert.deepEqual(done, ['other', 'a', 'b', 'c'])
})

test('changes that have waited long behind others wait on if another process is changing the base', async (t) => {
  const { changes, files } = open()
  await changes.commit('k1', () => {})
  const file = files.get('k1')!
  const write = file.write
  let isBusy = false
  file.write = (work, options) => {
    isBusy = !isBusy
    if (isBusy) throw new BaseBusy()
    return write(work, options)
  }
  let now = 0
  t.mock.method(performance, 'now', () => now)
  t.mock.method(globalThis, 'setTimeout', (work: () => void, ms: number) => {
    now += ms
    return setImmediate(work)
  })
  // Longer than half of the time for which a base may be busy.
  const slow = (word: string) =>
    changes.commit('k1', (base) => {
      now += 6_000
      return addWord(word)(base)
    })
  await Promise.all(['a', 'b', 'c'].map(slow))
  assert.equal(file.all('SELECT code FROM language').length, 3)
})

test('changes of a base that another process goes on changing are refused at the end, and the others are made', async () => {
  const { changes, files } = open()
  await changes.commit('k1', () => {})
  files.get('k1')!.write = () => {
    throw new BaseBusy()
  }
  const busy = ['a', 'b'].map((name) => changes.commit('k1', addWord(name)))
  const other = changes.commit('k2', addWord('other'))
  changes.close()
  for (const change of busy) await assert.rejects(change, { code: 'unavailable' })
  assert.equal(await other, 1)
})

test('changes of an agent that is removed are not made, whoever sent them', async () => {
  const { changes, files } = open()
  const made = [changes.commit('k1', addWord('w')), changes.commit('k2', addWord('w'))]
  changes.removeAgent('k1')
  assert.deepEqual(
    (await Promise.all(made)).map((number) => number !== undefined),
    [false, true],
  )
  assert.deepEqual([...files.keys()], ['k2'])
})

test('while other agents change documents, transactions of an agent are small', async () => {
  const { changes } = open()
  assert.equal(changes.isUsedBesides('k1'), false)
  await changes.commit('k1', addWord('a'))
  assert.equal(changes.isUsedBesides('k1'), false)
  assert.equal(changes.isUsedBesides('k2'), true)
  await changes.commit('k2', addWord('b'))
  assert.equal(changes.isUsedBesides('k1'), true)
  assert.equal(changes.isUsedBesides('k2'), true)
  const work = { limits: INDEX_LIMITS, othersWait: () => false }
  assert.equal(limitsFor(work).words, INDEX_LIMITS.words)
  assert.ok(limitsFor({ ...work, othersChange: () => changes.isUsedBesides('k1') }).words < INDEX_LIMITS.words)
  changes.close()
})
