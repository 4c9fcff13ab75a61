// What runs for each change or question of an agent finds its rows by an index, however many documents and sources there are.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { contentOf } from '../../src/store/knowledge/contents.ts'
import { listDocumentEvents } from '../../src/store/knowledge/document-outbox.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { Filters } from '../../src/store/knowledge/reader/filters.ts'
import { acceptSite, nextDue, openDueRuns } from '../../src/store/knowledge/sites.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-plans-'))
const file = KnowledgeFile.openToWrite(join(folder, 'a.db'))
after(() => {
  file.close()
  rmSync(folder, { recursive: true })
})

/** Returns how SQLite finds the rows of each statement that reads in `work`. */
function plansOf(work: () => unknown): string[] {
  const asked = new Set<string>()
  const { get, getMany, all, iterate } = file
  const watch = <A extends [sql: string, ...params: never[]], R>(run: (...args: A) => R) =>
    ((...args: A) => {
      asked.add(args[0])
      return run.apply(file, args)
    }) as never
  Object.assign(file, { get: watch(get), getMany: watch(getMany), all: watch(all), iterate: watch(iterate) })
  try {
    work()
  } finally {
    Object.assign(file, { get, getMany, all, iterate })
  }
  assert.ok(asked.size > 0)
  return [...asked].flatMap((sql) => {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => 1)
    return file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values).map(({ detail }) => detail)
  })
}

test('a source is found by its address, and the next that is due by its time', () => {
  const site = { type: 'site', url: 'https://a.test/' } as const
  for (const detail of plansOf(() => file.write(() => acceptSite(file, 's', site, 0)))) assert.match(detail, /^SEARCH .* USING/)
  for (const work of [() => nextDue(file), () => openDueRuns(file, 1)])
    for (const detail of plansOf(work)) assert.match(detail, /USING (COVERING )?INDEX site_due|USE TEMP B-TREE FOR LAST TERM/)
})

test('news are found without the documents that have none', () => {
  assert.match(plansOf(() => listDocumentEvents(file, 1)).join(), /USING INDEX document_news/)
})

test('a filter passes over documents without passages', () => {
  const plans = plansOf(() => file.perform(() => new Filters().passing({ lang: 'en' }, 1)))
  for (const detail of plans) assert.match(detail, /USING INDEX document_changed/)
  const [index] = file.all<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'document_changed'")
  assert.match(index!.sql, /WHERE last >= first$/)
})

test('the pieces of a large content are found without those of others', () => {
  for (const detail of plansOf(() => {
    const large = file.run('INSERT INTO large_content (document) VALUES (1)')
    file.run('INSERT INTO content_piece (content, number, bytes) VALUES (?, 0, ?)', large, new Uint8Array(3))
    assert.equal(contentOf(file, 1).length, 3)
  }))
    assert.match(detail, /content_piece USING INDEX|^SEARCH content USING|SCAN large_content/)
})
