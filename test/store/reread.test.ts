import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { newId } from '../../src/core/platform/ids.ts'
import { Ingest } from '../../src/knowledge/ingest/ingest.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import type { KnowledgeBase, KnowledgeStore } from '../../src/store/knowledge/base.ts'
import { acceptDocument } from '../../src/store/knowledge/documents.ts'
import { KnowledgeFolder } from '../../src/store/knowledge/folder.ts'
import { PostgresKnowledge } from '../../src/store/knowledge/postgres/postgres-knowledge.ts'
import { isOutdated, listTasks, READING, rereadAll } from '../../src/store/knowledge/tasks.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { textOf, until } from '../contract/knowledge.ts'
import { newDatabase, query } from '../support/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-reread-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const url = await newDatabase()
await (await PostgresDatabase.open({ url, connections: 1 })).close()

const ember = '# Ember\n\n## Colour\n\nThe lamp is red.'
const manual = '# Manual\n\nTurn the wheel to the left.'

const old = '{{< note >}}\nThe lamp is red.\n{{< /note >}}'

/** Makes the base one that was read by older rules, which left shortcodes in the text and headings out of it. */
function makeOld(base: KnowledgeBase): void {
  base.write(() => {
    base.update('manifest', { set: 'reading = 0' })
    base.update('passage', { set: `text = ?, heading = 'Ember › Colour'`, where: `text LIKE '%lamp%'` }, old)
    base.update('passage', { set: 'page = 3', where: `text LIKE '%wheel%'` })
    base.update('document', { set: `media_type = 'application/pdf'`, where: `title = 'Manual'` })
  })
}

async function engines(): Promise<[string, () => KnowledgeStore, string][]> {
  const [agent, holder] = [newId(), newId()]
  await query(url, `INSERT INTO agent VALUES ('${agent}', 'a', '{}', 0, 0)`)
  await query(url, `INSERT INTO replica VALUES ('${holder}', 0, NULL)`)
  return [
    ['a folder', () => new KnowledgeFolder(folder), newId()],
    ['PostgreSQL', () => new PostgresKnowledge({ url, pooler: false, holder }), agent],
  ]
}

describe('after an upgrade, a base that was read by older rules', async () => {
  for (const [name, open, agent] of await engines())
    test(`is read again, and answers until then: ${name}`, async (t) => {
      const questions = new Questions(open())
      t.after(() => questions.close())
      const isReady = () => questions.listDocuments(agent, { limit: 1, status: 'ready' })?.total === 2
      const passagesOf = (title: string) => {
        const document = questions.listDocuments(agent, { limit: 10 })?.items.find((one) => one.title === title)
        return questions.listPassages(agent, document!.id, { limit: 10 })!.items
      }
      const first = new Ingest({ store: open(), clock: Date.now })
      for (const text of [ember, manual]) await first.add(agent, newId(), textOf(text, { mediaType: 'text/markdown' }))
      await until(async () => isReady())
      await first.close()

      const store = open()
      const base = store.openToWrite(agent)
      assert.equal(isOutdated(base), false, 'what was just read is not outdated')
      makeOld(base)
      assert.equal(isOutdated(base), true)
      base.close()
      assert.ok(store.listOutdated(READING).includes(agent))

      const second = new Ingest({ store, clock: Date.now })
      t.after(() => second.close())
      second.rereadOutdated()
      await until(async () => {
        await nextTurn()
        assert.ok(isReady())
        const { hits } = questions.retrieve(agent, { query: 'which lamp', history: [], topK: 1, filter: null })
        assert.match(hits[0]?.text ?? '', /The lamp is red/)
        return passagesOf('Ember')[0]!.text !== old
      })
      assert.equal(passagesOf('Ember')[0]!.text, '## Colour\n\nThe lamp is red.')
      await until(async () => !store.list().pending.includes(agent))
      assert.deepEqual(
        passagesOf('Manual').map(({ text, page }) => [text, page]),
        [[manual, 3]],
        'pages stay, because only a document that is all text is read again',
      )
      assert.ok(!store.listOutdated(READING).includes(agent))
    })
})

test('documents that are only read again wait for all others', () => {
  const store = new KnowledgeFolder(folder)
  const base = store.openToWrite(newId())
  const add = (title: string, at: number) => base.write(() => acceptDocument(base, newId(), textOf(title, { title }), at))
  add('old', 1)
  base.write(() => {
    base.run(`UPDATE document SET status = 'ready', work = NULL, first = 1, last = 1`)
    rereadAll(base)
  })
  assert.deepEqual(
    listTasks(base, 5).map(({ title, work }) => [title, work]),
    [['old', 'reread']],
  )
  add('new', 2)
  assert.deepEqual(
    listTasks(base, 5).map(({ title, work }) => [title, work]),
    [['new', 'read']],
  )
  base.close()
})
