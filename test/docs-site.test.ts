// The pages of the documentation, as files.
import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { buildSite } from '../scripts/site/build.ts'

test('no page has an id twice', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-site-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  buildSite(folder)
  const pages = globSync('**/*.html', { cwd: folder })
  assert.ok(pages.includes(join('api', 'index.html')), 'the API reference is among the pages')
  const twice = pages.flatMap((page) => {
    const ids = [...readFileSync(join(folder, page), 'utf8').matchAll(/<[a-z][^>]*\sid="([^"]+)"/g)].map(([, id]) => id!)
    return ids.filter((id, i) => ids.indexOf(id) !== i).map((id) => `${page}: ${id}`)
  })
  assert.deepEqual(twice, [])
})
