import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import { languagesOf } from '../../src/knowledge/ingest/passage-list.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { raiseVersion } from '../../src/store/knowledge/index/index.ts'
import { CacheBudget } from '../../src/store/knowledge/reader/cache.ts'
import { KnowledgeIndex } from '../../src/store/knowledge/reader/knowledge-index.ts'
import { done } from '../../src/store/knowledge/work.ts'
import { detectLanguage } from '../../src/text/analyse.ts'
import { settled, textOf } from '../contract/knowledge.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-languages-'))
after(() => rmSync(folder, { recursive: true }))

const english = 'The lamp is switched on by the button at its foot. It takes a minute until it is as bright as it can be.'
const french =
  "La lampe s'allume avec le bouton qui est sur le pied. Il faut une minute pour qu'elle soit la plus claire possible."
const table = '| Code | Status |\n| --- | --- |\n| A1 | OK |\n| B2 | OK |'

test('a document has the languages of most of its text', () => {
  const of = (...texts: string[]) =>
    languagesOf({
      length: texts.length,
      slice: (start, end) => texts.slice(start, end).map((text) => ({ text, heading: '', page: null })),
    })
  assert.deepEqual(of(english, table, english, english), ['en'])
  assert.deepEqual(of(english, french, french), ['fr', 'en'])
  assert.deepEqual(of(table), [detectLanguage(table)], 'nothing else tells')
})

test('a short passage is indexed in the language of its document', async () => {
  assert.notEqual(detectLanguage(table), 'en')
  const knowledge = openKnowledge({ place: { folder }, ids: newId })
  const agent = newId()
  const sections = Array.from({ length: 6 }, (_, i) => `# Part ${i}\n\n${english.repeat(8)}`)
  await knowledge.addDocument(agent, textOf([...sections, `# Codes\n\n${table}`].join('\n\n'), { mediaType: 'text/markdown' }))
  await settled(knowledge, agent)
  await knowledge.close()
  const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
  assert.deepEqual(
    file.all<{ code: string }>('SELECT code FROM language').map(({ code }) => code),
    ['en'],
  )
  file.close()
})

test('a language of very few passages is none of the base', () => {
  const file = KnowledgeFile.openToWrite(join(folder, 'few.db'))
  const index = new KnowledgeIndex(file, new CacheBudget(), 4)
  const languages = (...rows: [string, number][]) => {
    file.write(() => {
      file.run('DELETE FROM language')
      for (const row of rows) file.run('INSERT INTO language (code, passages) VALUES (?, ?)', ...row)
      raiseVersion(file)
    })
    return index.read((read) => done(read.languages))
  }
  assert.deepEqual(languages(['fr', 600], ['en', 5], ['sv', 4]), ['fr', 'en'])
  assert.deepEqual(languages(['fr', 60], ['sv', 1]), ['fr', 'sv'], 'a small base may have few of each')
  file.close()
})
