// A source of many pages is removed with a few statements that read, each by an index.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import type { SqlValue } from '../../src/store/knowledge/rows.ts'
import { closeRun, forgetPages, judgeRun, removeGone, removeSome } from '../../src/store/knowledge/site-removal.ts'
import {
  acceptSite,
  addPages,
  endPage,
  findSite,
  isOpen,
  keepPage,
  openRun,
  type SiteRun,
} from '../../src/store/knowledge/sites.ts'
import { drive } from '../../src/store/knowledge/work.ts'

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
    for (const url of urls) endPage(file, run, url, keepPage(file, run, url, `${id} ${url}`, content(url), 0), [url])
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
  assert.equal(
    file.write(() => closeRun(file, 's1')),
    true,
  )
  const removed: number[] = []
  for (let extents = file.write(() => removeSome(file, 's1')); extents; extents = file.write(() => removeSome(file, 's1')))
    removed.push(extents.length)
  // 200 documents or 20 pages in each transaction; the last 50 documents belong to the other source.
  assert.deepEqual(removed, [200, 50, ...Array.from({ length: PAGES / 20 + 1 }, () => 0)])
  assert.ok(Math.max(...reads.values()) <= removed.length + 2, JSON.stringify([...reads]))
  for (const sql of reads.keys()) {
    const values = Array.from({ length: sql.split('?').length - 1 }, () => 1)
    for (const { detail } of file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values))
      assert.doesNotMatch(detail, /^SCAN/, sql)
  }
  assert.deepEqual(file.all('SELECT site, count(*) AS n FROM document GROUP BY site'), [{ site: 2, n: PAGES }])
  for (const table of ['content', 'page', 'page_links'])
    assert.deepEqual(file.all(`SELECT count(*) AS n FROM ${table}`), [{ n: PAGES }])
  file.close()
})

test('a run removes what it did not find a part at a time, and forgets pages of earlier runs', () => {
  const file = KnowledgeFile.openToWrite(join(folder, 'b.db'))
  const content = (text: string) =>
    ({ changed: true, body: new TextEncoder().encode(text), contentType: 'text/plain', etag: null, lastModified: null }) as const
  const url = (i: number) => `https://b.test/${i}`
  const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
  let opened = 0
  let maxPages = 10_000
  let type: SiteRun['type'] = 'sitemap'
  const runOf = (): SiteRun => ({ number: 1, type, url: '', maxPages, maxDepth: 1, run: opened, attempts: 0 })
  const crawl = (taken: number[], failed: number[] = []) =>
    file.write(() => {
      if (opened++ === 0) acceptSite(file, 's1', { type: 'sitemap', url: 'https://b.test/s.xml' }, 0)
      else openRun(file, 's1', 0)
      const run = runOf()
      addPages(file, run, [...taken, ...failed].map(url), 1)
      for (const i of taken) endPage(file, run, url(i), keepPage(file, run, url(i), `d${i}`, content(`${i}`), 0), [url(i)])
      for (const i of failed) endPage(file, run, url(i), 'failed')
    })
  const finish = () => {
    const run = runOf()
    const finding = judgeRun(file, run)
    const gone: number[] = []
    for (let after: number | undefined = 0; after !== undefined; ) {
      const { extents, last } = file.write(() => removeGone(file, run, finding, after!))
      gone.push(extents.length)
      after = last
    }
    let parts = 0
    for (let after: string | undefined = ''; after !== undefined; parts++)
      after = file.write(() => forgetPages(file, run, finding, after!))
    file.run('UPDATE site SET run_open = 0')
    return { gone, parts, pages: file.get<{ n: number }>('SELECT count(*) AS n FROM page')!.n }
  }
  crawl(numbers(0, 500))
  assert.equal(isOpen(file, runOf()), true)
  assert.deepEqual(finish(), { gone: [0, 0, 0, 0], parts: 4, pages: 500 })
  // One page cannot be had: what was not found may still be there. Pages without a document are not remembered.
  file.run('DELETE FROM document WHERE url = ?', url(3))
  crawl(numbers(400, 500), [600])
  assert.deepEqual(finish(), { gone: [0, 0, 0, 0], parts: 4, pages: 500 })
  crawl(numbers(300, 500), [600])
  assert.deepEqual(finish(), { gone: [0, 0, 0, 0], parts: 4, pages: 500 })
  crawl(numbers(200, 500), [600])
  finish()
  assert.equal(drive(file, findSite('s1'))!.documents, 499)
  // The others were missed four times, which only counts where there are too many.
  crawl(numbers(200, 500), [600])
  finish()
  assert.equal(drive(file, findSite('s1'))!.documents, 499)
  maxPages = 400
  crawl(numbers(200, 500), [600])
  finish()
  assert.equal(drive(file, findSite('s1'))!.documents, 300)
  crawl(numbers(400, 500))
  assert.deepEqual(finish(), { gone: [200, 0, 0], parts: 12, pages: 100 })
  assert.equal(drive(file, findSite('s1'))!.documents, 100)
  assert.deepEqual(file.all('SELECT count(*) AS n FROM page_links'), [{ n: 100 }])
  // A whole site of which suddenly less than half is found may be out of order. After three such runs it is what it is.
  type = 'site'
  crawl(numbers(400, 460))
  finish()
  assert.equal(drive(file, findSite('s1'))!.documents, 60)
  for (let i = 0; i < 3; i++) {
    crawl(numbers(400, 401))
    finish()
    assert.equal(drive(file, findSite('s1'))!.documents, 60)
  }
  crawl(numbers(400, 401))
  finish()
  assert.equal(drive(file, findSite('s1'))!.documents, 1)
  file.close()
})
