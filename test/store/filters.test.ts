import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { MetadataFilter } from '../../src/core/agent.ts'
import { newId } from '../../src/core/platform/ids.ts'
import { acceptDocument, acceptVersion, changeDocument } from '../../src/store/knowledge/documents.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { raiseVersion } from '../../src/store/knowledge/index/index.ts'
import { Filters, NotYet } from '../../src/store/knowledge/reader/filters.ts'
import { drive } from '../../src/store/knowledge/work.ts'
import { textOf } from '../contract/knowledge.ts'

const home = mkdtempSync(join(tmpdir(), 'repartee-filters-'))
after(() => rmSync(home, { recursive: true, force: true }))

/** A base of so many documents of one passage each, whose id is the number of the document. */
function newBase(documents: number) {
  const base = KnowledgeFile.openToWrite(join(home, `${newId()}.db`))
  const ids = Array.from({ length: documents }, () => newId())
  base.write(() => {
    for (const [i, id] of ids.entries())
      acceptDocument(base, id, { ...textOf(`Note ${i}.`), metadata: { parity: i % 2, number: i } }, 0)
    base.run('UPDATE document SET first = number, last = number')
    raiseVersion(base)
  })
  after(() => base.close())
  const version = () => base.get<{ version: number }>('SELECT version FROM manifest')!.version
  return { base, ids, version }
}

/** What a filter lets through, and how many turns it took to find out. */
function ask(filters: Filters, filter: MetadataFilter, { base, ids, version }: ReturnType<typeof newBase>) {
  for (let turns = 1; ; turns++) {
    try {
      const passing = drive(base, filters.passing(filter, version()))
      return { turns, passed: ids.flatMap((_, i) => (passing.has(i + 1) ? [i] : [])) }
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}

const from0 = (length: number, step: number) => Array.from({ length }, (_, i) => i * step)

test('the first question with a filter takes several turns, further ones look at what changed', () => {
  const known = newBase(1_000)
  const filters = new Filters(0)
  const first = ask(filters, { parity: 0 }, known)
  // Twice as many documents in each turn, from 20 on.
  assert.deepEqual(first, { turns: 6, passed: from0(500, 2) })
  known.base.write(() => {
    changeDocument(known.base, known.ids[4]!, { metadata: {} }, 0)
  })
  const second = ask(filters, { parity: 0 }, known)
  assert.deepEqual(second, { turns: 1, passed: from0(500, 2).filter((i) => i !== 4) })
})

test('a turn ends after fewer documents where these have much metadata', () => {
  const known = newBase(200)
  const notes = 'x'.repeat(14_000)
  known.base.write(() => known.base.run('UPDATE document SET metadata = ?', JSON.stringify({ parity: 0, notes })))
  const { turns, passed } = ask(new Filters(0), { parity: 0 }, known)
  assert.deepEqual([turns, passed.length], [11, 200])
})

test('a change is seen whether the version is raised before it or after, in a transaction of its own or of several', () => {
  const known = newBase(10)
  const { base, ids } = known
  const filters = new Filters(0)
  const change = (i: number, metadata: object) => changeDocument(base, ids[i]!, { metadata: metadata as never }, 0)
  const passed = () => ask(filters, { ok: true }, known).passed
  assert.deepEqual(passed(), [])
  base.write(() => {
    raiseVersion(base)
    change(7, { ok: true })
  })
  assert.deepEqual(passed(), [7])
  base.write(() => {
    change(2, { ok: true })
    raiseVersion(base)
  })
  assert.deepEqual(passed(), [2, 7])
  base.write(() => {
    change(1, { ok: true })
    raiseVersion(base)
    raiseVersion(base)
    change(7, {})
    change(9, { ok: true })
  })
  assert.deepEqual(passed(), [1, 2, 9])
  base.write(() => {
    change(9, {})
    raiseVersion(base)
  })
  assert.deepEqual(passed(), [1, 2])
})

test('new metadata counts at once, also where it comes with a new version that is not read yet', () => {
  const known = newBase(3)
  const { base, ids } = known
  const filters = new Filters(0)
  const passed = () => ask(filters, { parity: 0 }, known).passed
  assert.deepEqual(passed(), [0, 2])
  const before = known.version()
  base.write(() => acceptVersion(base, ids[0]!, { ...textOf('Another note.'), metadata: { parity: 1 } }, 0))
  assert.deepEqual(passed(), [2])
  assert.ok(known.version() > before)
})

test('more filters than are kept, each asked in turn, are all answered', () => {
  const known = newBase(700)
  const filters = new Filters(0)
  const waiting = new Set(Array.from({ length: 40 }, (_, number) => number))
  while (waiting.size > 0) {
    for (const number of waiting) {
      try {
        const passing = drive(known.base, filters.passing({ number }, known.version()))
        assert.ok(passing.has(number + 1) && !passing.has(number + 2))
        waiting.delete(number)
      } catch (error) {
        if (!(error instanceof NotYet)) throw error
      }
    }
  }
})
