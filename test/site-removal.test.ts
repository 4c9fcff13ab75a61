// A source of many pages is removed with a few statements that read, each by an index.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { SqlValue } from '../src/store/knowledge-base.ts'
import { KnowledgeFile } from '../src/store/knowledge-file.ts'
import { acceptSite, addPages, endPage, keepPage, removeSite, type SiteRun } from '../src/store/knowledge-sites.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-sites-'))
after(() => rmSync(folder, { recursive: true }))
const PAGES = 300

test('documents of a removed source go, but for those of pages that another source has', () => {
  const file = KnowledgeFile.openToWrite(join(folder, 'a.db'))
  const content = (text: string) =>
    ({ changed: true, body: new TextEncoder().encode(text), contentType: 'text/plain', etag: null, lastModified: null }) as const
  const addSite = (number: number, from: number) => {
    const id = `s${number}`
    acceptSite(file, id, { type: 'sitemap', url: `https://a.test/${id}.xml` }, 0)
    const run: SiteRun = { number, type: 'sitemap', url: '', maxPages: PAGES, maxDepth: 1, run: 1, attempts: 0 }
    const urls = Array.from({ length: PAGES }, (_, i) => `https://a.test/${from + i}`)
    addPages(file, run, urls, 1)
    for (const url of urls) endPage(file, run, url, keepPage(file, run, url, `${id} ${url}`, content(url), 0))
  }
  file.write(() => addSite(1, 0))
  file.write(() => addSite(2, PAGES - 50))
  const reads = new Map<string, number>()
  const watch = (sql: string) => reads.set(sql, (reads.get(sql) ?? 0) + 1)
  const get = file.get.bind(file)
  file.getMany = <T>(sql: string, each: readonly SqlValue[][]) => {
    watch(sql)
    return each.map((params) => get<T>(sql, ...params))
  }
  file.get = <T>(sql: string, ...params: SqlValue[]) => {
    watch(sql)
    return get<T>(sql, ...params)
  }
  const extents = file.write(() => removeSite(file, 's1'))
  assert.equal(extents?.length, PAGES - 50)
  assert.ok(Math.max(...reads.values()) === 1, JSON.stringify([...reads]))
  for (const sql of reads.keys()) {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => 1)
    for (const { detail } of file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values))
      assert.doesNotMatch(detail, /^SCAN/, sql)
  }
  assert.deepEqual(file.all('SELECT site, count(*) AS n FROM document GROUP BY site'), [{ site: 2, n: PAGES }])
  assert.deepEqual(file.all('SELECT count(*) AS n FROM content'), [{ n: PAGES }])
  file.close()
})
