import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DocumentError } from '../../src/core/document-error.ts'
import { ReparteeError } from '../../src/core/errors.ts'
import { newId } from '../../src/core/platform/ids.ts'
import type { Knowledge } from '../../src/core/ports/knowledge.ts'
import { INDEX_LIMITS, indexSome, releaseAll } from '../../src/knowledge/ingest/index-documents.ts'
import { Ingest } from '../../src/knowledge/ingest/ingest.ts'
import { LargeDocuments } from '../../src/knowledge/ingest/large-documents.ts'
import { OpenBases } from '../../src/knowledge/ingest/open-bases.ts'
import { charsOf, heldCharsOf } from '../../src/knowledge/ingest/passage-list.ts'
import { type DocumentReading, isQuickToRead, ReadAhead } from '../../src/knowledge/ingest/read-documents.ts'
import { SlowReadings } from '../../src/knowledge/ingest/slow-readings.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import { type ReadInput, readDocument } from '../../src/knowledge/read/read.ts'
import { commitsLost } from '../../src/store/knowledge/base.ts'
import { contentOf, putPiece } from '../../src/store/knowledge/contents.ts'
import {
  acceptDocument,
  acceptVersion,
  changeDocument,
  findDocument,
  listPassages,
  removeDocument,
} from '../../src/store/knowledge/documents.ts'
import { listFetches } from '../../src/store/knowledge/fetches.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { KnowledgeFolder } from '../../src/store/knowledge/folder.ts'
import { addToBatch, eraseSome, markDeleted, newBatch, raiseVersion, writeBatch } from '../../src/store/knowledge/index/index.ts'
import { emptySome, Merge } from '../../src/store/knowledge/index/merge.ts'
import { countSegments } from '../../src/store/knowledge/index/segments.ts'
import type { IndexRead } from '../../src/store/knowledge/reader/index-read.ts'
import { KnowledgeIndex } from '../../src/store/knowledge/reader/knowledge-index.ts'
import { acceptSite, listRuns } from '../../src/store/knowledge/sites.ts'
import { failTask, listTasks, startTasks, type Task } from '../../src/store/knowledge/tasks.ts'
import { drive, type Work } from '../../src/store/knowledge/work.ts'
import { find, knowledgeContract, settled, textOf, until } from '../contract/knowledge.ts'
import { anyRoom } from '../support/any-room.ts'
import { isInFiles } from '../support/store.ts'

function* dfOf(read: IndexRead, key: string): Work<number> {
  yield* read.load([key])
  return read.frequency(key)
}

const home = mkdtempSync(join(tmpdir(), 'repartee-knowledge-'))
after(() => rmSync(home, { recursive: true, force: true }))
const newFolder = (): string => mkdtempSync(join(home, 'k-'))
const open = (folder = newFolder()): Knowledge => openKnowledge({ place: { folder }, ids: newId })

knowledgeContract('embedded', async () => open())

describe('knowledge files', () => {
  test('asking about an agent without documents makes no file', async () => {
    const folder = newFolder()
    const knowledge = open(folder)
    await knowledge.retrieve(randomUUID(), { query: 'x', history: [], topK: 1, filter: null })
    await knowledge.deleteAgent(randomUUID())
    assert.deepEqual(readdirSync(folder), [])
    await knowledge.close()
  })

  test('the text of a deleted document is in no file soon after, and neither are its words', async () => {
    const folder = newFolder()
    const knowledge = open(folder)
    const agent = randomUUID()
    // Together, so that they share a part of the index in which most stay.
    const [document] = await Promise.all([
      knowledge.addDocument(agent, textOf('The password is xylophonequartz, says Bartholomew.', { title: 'Hushhush' })),
      knowledge.addDocument(agent, textOf('Other things stay where they are.', { title: 'Other' })),
      ...Array.from({ length: 20 }, (_, i) => knowledge.addDocument(agent, textOf(`Note ${i}.`))),
    ])
    await settled(knowledge, agent)
    assert.ok(isInFiles(folder, 'xylophonequartz'))
    await knowledge.deleteDocument(agent, document.id)
    await until(async () => !['xylophonequartz', 'artholomew', 'bartholomew', 'ushhush'].some((word) => isInFiles(folder, word)))
    assert.equal((await find(knowledge, agent, 'where do things stay'))[0]?.title, 'Other')
    await knowledge.close()
  })

  test('the old text of a replaced document and its old title are in no file soon after', async () => {
    const folder = newFolder()
    const knowledge = open(folder)
    const agent = randomUUID()
    const document = await knowledge.addDocument(agent, textOf('The password is xylophonequartz.', { title: 'Hushhush' }))
    await settled(knowledge, agent)
    await knowledge.replaceDocument(agent, document.id, textOf('There is no password.', { title: 'Open' }))
    await settled(knowledge, agent)
    await until(async () => !['xylophonequartz', 'ushhush'].some((word) => isInFiles(folder, word)))
    await knowledge.close()
  })

  test('the files of a deleted agent are gone', async () => {
    const folder = newFolder()
    const knowledge = open(folder)
    const agent = randomUUID()
    await knowledge.addDocument(agent, textOf('Anything.'))
    await settled(knowledge, agent)
    await find(knowledge, agent, 'anything')
    await knowledge.deleteAgent(agent)
    assert.deepEqual(readdirSync(folder), [])
    await knowledge.close()
  })

  test('what was accepted before an orderly end is there after the next start', async () => {
    const folder = newFolder()
    const agent = randomUUID()
    const first = open(folder)
    const documents = await Promise.all(
      Array.from({ length: 50 }, (_, i) => first.addDocument(agent, textOf(`Document ${i} of many.`))),
    )
    await first.close()
    const second = open(folder)
    await second.start()
    await settled(second, agent)
    assert.deepEqual(await second.count(agent), { documents: 50, passages: 50 })
    assert.ok(await second.findDocument(agent, documents[7]!.id))
    await until(async () => !existsSync(join(folder, `${agent}.pending`)))
    await second.close()
  })

  test('a large document appears as a whole, and others are answered meanwhile', async () => {
    const knowledge = open()
    const agent = randomUUID()
    const paragraph = (i: number): string =>
      `Chapter ${i} of the long book tells of mountain${i} and of the river below it. ${'It rained all the day long. '.repeat(40)}`
    const large = await knowledge.addDocument(
      agent,
      textOf(Array.from({ length: 6_000 }, (_, i) => paragraph(i)).join('\n\n'), { title: 'Long book' }),
    )
    const small = await knowledge.addDocument(agent, textOf('A short note.', { title: 'Note' }))
    await until(async () => {
      const [hit] = await find(knowledge, agent, 'mountain77')
      const { status, passageCount } = (await knowledge.findDocument(agent, large.id))!
      assert.equal(passageCount > 0, status === 'ready')
      if (hit !== undefined) await until(async () => (await knowledge.findDocument(agent, large.id))?.status === 'ready')
      return hit !== undefined
    })
    await settled(knowledge, agent)
    assert.equal((await knowledge.findDocument(agent, small.id))?.status, 'ready')
    await knowledge.close()
  })
})

describe('ingestion', () => {
  const agent = randomUUID()
  const workOn = (agentId: string) => ({
    agentId,
    clock: Date.now,
    limits: INDEX_LIMITS,
    isOver: () => false,
    othersWait: () => false,
    unreleased: new Set<Task>(),
    slow: new SlowReadings<Task, DocumentReading | undefined>(),
    large: new LargeDocuments(anyRoom),
    read: readDocument,
  })
  const paragraphs = (n: number, word: string): string =>
    Array.from({ length: n }, (_, i) => `Paragraph ${i} about the ${word}. ${'It rained all the day long. '.repeat(50)}`).join(
      '\n\n',
    )
  const idle = async (questions: Questions): Promise<void> => {
    for (const status of ['queued', 'processing'] as const)
      await until(async () => questions.listDocuments(agent, { limit: 1, status })?.total === 0)
  }
  /** Looks between any two steps of the work: a pause could last for all of it. */
  const begun = async (questions: Questions, id: string): Promise<void> => {
    while (questions.findDocument(agent, id)!.progress === 0) await nextTurn()
  }
  const count = (questions: Questions, query: string): number =>
    questions.retrieve(agent, { query, history: [], topK: 100, filter: null }).hits.length

  test('takes as many turns as it needs, and gives up no document for having waited', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index: { documents: 100, passages: 5 } })
    const questions = new Questions(new KnowledgeFolder(folder))
    await Promise.all(Array.from({ length: 40 }, (_, i) => ingest.add(agent, newId(), textOf(`Note ${i} about the walnut.`))))
    await idle(questions)
    assert.equal(questions.listDocuments(agent, { limit: 1, status: 'ready' })?.total, 40)
    assert.equal(count(questions, 'walnut'), 40)
    questions.close()
    await ingest.close()
  })

  test('interrupted in a large document leaves nothing to be found, and begins anew', async () => {
    const folder = newFolder()
    const id = newId()
    const first = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index: { documents: 100, passages: 5 } })
    const questions = new Questions(new KnowledgeFolder(folder))
    await first.add(agent, id, textOf(paragraphs(90, 'hazel'), { title: 'Hazel' }))
    await begun(questions, id)
    await first.close()
    assert.equal(count(questions, 'hazel'), 0)
    assert.notEqual(questions.findDocument(agent, id)?.status, 'ready')
    const second = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index: { documents: 100, passages: 5 } })
    second.resume([agent])
    await idle(questions)
    const { passageCount, status } = questions.findDocument(agent, id)!
    assert.equal(status, 'ready')
    assert.ok(passageCount > 20 && passageCount < 100)
    assert.equal(count(questions, 'hazel'), passageCount)
    questions.close()
    await second.close()
  })

  test('of a document that is deleted meanwhile ends with nothing', async () => {
    const folder = newFolder()
    const id = newId()
    const ingest = new Ingest({
      store: new KnowledgeFolder(folder),
      clock: Date.now,
      index: { documents: 100, passages: 5, turnMs: 0 },
    })
    const questions = new Questions(new KnowledgeFolder(folder))
    await ingest.add(agent, id, textOf(paragraphs(400, 'hazel'), { title: 'Hazel' }))
    await begun(questions, id)
    await ingest.remove(agent, id)
    await until(async () => !isInFiles(folder, 'hazel'))
    assert.equal(count(questions, 'hazel'), 0)
    await ingest.add(agent, newId(), textOf('The walnut is brown.'))
    await idle(questions)
    const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
    // All of its passages would have been in 80.
    const { segments } = file.get<{ segments: number }>("SELECT seq AS segments FROM sqlite_sequence WHERE name = 'segment'")!
    assert.ok(segments < 60, `its other passages were not written: there were ${segments} segments`)
    file.close()
    questions.close()
    await ingest.close()
  })

  test('of a large document lets other agents have their turns, and goes on where it was', async () => {
    const folder = newFolder()
    const other = randomUUID()
    const index = { documents: 100, passages: 5, turnMs: 0 }
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index })
    const questions = new Questions(new KnowledgeFolder(folder))
    const [large, small] = [newId(), newId()]
    await ingest.add(other, small, textOf('The walnut is brown.'))
    while (questions.findDocument(other, small)?.status !== 'ready') await nextTurn()
    await ingest.add(agent, large, textOf(paragraphs(5_000, 'hazel'), { title: 'Hazel' }))
    await begun(questions, large)
    // This takes a turn, and no process that reads, which may have no time on a busy machine.
    await ingest.change(other, small, { title: 'Filbert' })
    const isFound = () => questions.retrieve(other, { query: 'filbert', history: [], topK: 1, filter: null }).hits.length > 0
    assert.equal(isFound(), false)
    while (!isFound()) await nextTurn()
    assert.equal(questions.findDocument(agent, large)!.status, 'processing')
    assert.equal(count(questions, 'hazel'), 0)
    await idle(questions)
    const { passageCount, status } = questions.findDocument(agent, large)!
    assert.equal(status, 'ready')
    const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
    assert.equal(file.get<{ count: number }>('SELECT count(*) AS count FROM passage')!.count, passageCount)
    assert.equal(file.get('SELECT 1 FROM dead'), undefined)
    file.close()
    questions.close()
    await ingest.close()
  })

  test('of a large document writes what it has when its text is slow to analyse', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => acceptDocument(file, newId(), textOf(paragraphs(60, 'hazel')), 0))
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, words: 100, analyseMs: -1 } }
    let turns = 0
    while (await indexSome(file, work)) turns++
    const { n } = file.get<{ n: number }>('SELECT count(*) AS n FROM passage')!
    assert.ok(n > 3)
    assert.ok(turns >= n, `${turns} turns for ${n} passages`)
    file.close()
  })

  test('of different words writes fewer of them at once while other agents wait', async () => {
    const turnsOf = async (othersWait: boolean) => {
      const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
      const words = Array.from({ length: 8_000 }, (_, i) => `w${(i + 1_000_000).toString(36)}`)
      file.write(() => acceptDocument(file, newId(), textOf(words.join(' ')), 0))
      const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, words: 2_000 }, othersWait: () => othersWait }
      let turns = 0
      while (await indexSome(file, work)) turns++
      file.close()
      return turns
    }
    const [alone, beside] = [await turnsOf(false), await turnsOf(true)]
    assert.ok(beside > 2 * alone, `${alone} and ${beside} turns`)
  })

  test('of new titles reads passages when they are written, and not before', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const id = newId()
    file.write(() => acceptDocument(file, id, textOf(paragraphs(600, 'hazel'), { title: 'Hazel' }), 0))
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 300 } }
    while (await indexSome(file, work));
    const before = drive(file, findDocument(id))!
    assert.ok(before.passageCount >= 600)
    file.write(() => changeDocument(file, id, { title: 'Filbert' }, 1))
    const ahead = new ReadAhead(file, listTasks(file, 1), work)
    const { passages } = (await ahead.take()!.reading)!
    assert.equal(passages.length, before.passageCount)
    assert.ok(heldCharsOf(passages) < charsOf(passages) / 2)
    assert.equal(await indexSome(file, work), true)
    assert.equal(work.large.of(agent)?.done, 300)
    while (await indexSome(file, work));
    const after = drive(file, findDocument(id))!
    assert.deepEqual([after.title, after.passageCount, after.status], ['Filbert', before.passageCount, 'ready'])
    const texts = file.all<{ text: string }>('SELECT text FROM passage WHERE id > ? ORDER BY id', before.passageCount)
    const old = file.all<{ text: string }>('SELECT text FROM passage ORDER BY id LIMIT ?', before.passageCount)
    assert.deepEqual(texts, old)
    file.close()
  })

  test('takes back the attempts at documents that are still being read at an orderly end', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    for (const text of ['The walnut is brown.', 'The oak is old.'])
      file.write(() => acceptDocument(file, newId(), textOf(text), 0))
    const read = () => new Promise<never>(() => {})
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, slowMs: 0 }, read }
    await indexSome(file, work)
    await indexSome(file, work)
    const attempts = () => listTasks(file, 10).map((task) => task.attempts)
    assert.deepEqual(attempts(), [1, 1])
    releaseAll(file, work)
    assert.deepEqual(attempts(), [0, 0])
    file.close()
  })

  test('of large documents waits where they would take too much memory', async () => {
    const folder = newFolder()
    const agents = Array.from({ length: 4 }, () => randomUUID())
    const index = { documents: 100, passages: 5, turnMs: 0, heldChars: 1 }
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index })
    const questions = new Questions(new KnowledgeFolder(folder))
    const ids = await Promise.all(
      agents.map(async (agentId) => (await ingest.add(agentId, newId(), textOf(paragraphs(60, 'hazel')))).id),
    )
    const under = () => agents.filter((agentId, i) => (questions.findDocument(agentId, ids[i]!)?.progress ?? 0) % 1 > 0)
    const progress: number[] = []
    const states = () => agents.map((agentId, i) => questions.findDocument(agentId, ids[i]!)!.status)
    while (!states().every((status) => status === 'ready')) {
      progress.push(under().length)
      await nextTurn()
    }
    assert.equal(Math.max(...progress), 1)
    await until(async () => readdirSync(folder).every((name) => !name.endsWith('.pending')))
    questions.close()
    await ingest.close()
  })

  test('erases a large document in many small steps, and leaves no word of it', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const [large, small] = [newId(), newId()]
    const words = Array.from({ length: 10_000 }, (_, i) => `w${(i + 1_000_000).toString(36)}`)
    file.write(() => {
      acceptDocument(file, large, textOf(words.join(' ')), 0)
      acceptDocument(file, small, textOf('The walnut is brown.'), 0)
    })
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 5 } }
    while (await indexSome(file, work));
    const count = (table: string) => file.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n
    assert.ok(count('segment') > 5 && count('word') > 10_000)
    file.write(() => {
      const extent = removeDocument(file, large)!
      markDeleted(file, extent.first, extent.last, extent.indexedTitle)
    })
    let longest = 0
    for (let before = count('word'); eraseSome(file); before = count('word')) longest = Math.max(longest, before - count('word'))
    assert.ok(longest < 3_000, `${longest} words in one step`)
    for (let merge = Merge.begin(file, true); merge !== undefined; merge = Merge.begin(file, true)) while (merge.step(file, 0));
    while (emptySome(file));
    assert.deepEqual(
      file.all<{ word: string }>('SELECT word FROM word ORDER BY word').map(({ word }) => word),
      ['brown', 'is', 'the', 'walnut'],
    )
    assert.deepEqual(
      file.all<{ key: string }>("SELECT key FROM post WHERE key LIKE 'e%' ORDER BY key").map(({ key }) => key),
      ['ebrown', 'eis', 'ethe', 'ewalnut'],
    )
    file.close()
  })

  test('indexes small documents between the parts of a large one, and each is found whole', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const [large, other, ...notes] = Array.from({ length: 6 }, () => newId())
    file.write(() => {
      acceptDocument(file, large!, textOf(paragraphs(40, 'hazel'), { title: 'Hazel' }), 0)
      acceptDocument(file, other!, textOf(paragraphs(40, 'filbert'), { title: 'Filbert' }), 1)
    })
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 5 } }
    for (const [i, id] of notes.entries()) {
      assert.equal(await indexSome(file, work), true)
      file.write(() => acceptDocument(file, id, textOf(`Note ${i} about an almond.`), 2 + i))
      for (let turns = 0; drive(file, findDocument(id))!.status !== 'ready'; turns++) {
        assert.ok(turns < 4, `${turns} turns`)
        assert.equal(await indexSome(file, work), true)
      }
    }
    assert.equal(drive(file, findDocument(large!))!.status, 'processing')
    while (await indexSome(file, work));
    for (let merge = Merge.begin(file, true); merge !== undefined; merge = Merge.begin(file, true)) while (merge.step(file, 0));
    for (const [id, word] of [
      [large!, 'hazel'],
      [other!, 'filbert'],
    ] as const) {
      const { items, total } = drive(file, listPassages(id, { limit: 100 }))!
      assert.equal(drive(file, findDocument(id))!.status, 'ready')
      assert.equal(items.length, total)
      assert.deepEqual(
        items.map(({ text }) => text.includes(word)),
        items.map(() => true),
      )
      assert.equal(items.filter(({ text }) => text.includes('Paragraph')).length, total)
    }
    const questions = new Questions({ openToRead: () => file })
    const { hits } = questions.retrieve(agent, { query: 'almond', history: [], topK: 10, filter: null })
    assert.deepEqual(hits.map(({ documentId }) => documentId).sort(), notes.toSorted())
    file.close()
  })

  test('writes a large document again of which commits were lost', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const [large, note] = [newId(), newId()]
    file.write(() => acceptDocument(file, large, textOf(paragraphs(40, 'hazel'), { title: 'Hazel' }), 0))
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 5 } }
    for (let turns = 0; turns < 3; turns++) await indexSome(file, work)
    // As after a crash of a database server, whose last commit did not wait for its disk.
    file.write(() => {
      file.run('DELETE FROM passage')
      file.run('DELETE FROM dead')
      file.run('DELETE FROM post')
      file.run('DELETE FROM segment')
      file.run('DELETE FROM sqlite_sequence')
      acceptDocument(file, note, textOf('The almond is white.'), 1)
    })
    for (let again = true; again; )
      again = await indexSome(file, work).catch((error: ReparteeError) => error.code === 'unavailable')
    const { items, total } = drive(file, listPassages(large, { limit: 100 }))!
    assert.equal(items.length, total)
    assert.deepEqual([...new Set(items.map(({ text }) => text.includes('hazel')))], [true])
    assert.equal(items.filter(({ text }) => text.includes('Paragraph')).length, total)
    assert.deepEqual(
      [large, note].map((id) => drive(file, findDocument(id))!.status),
      ['ready', 'ready'],
    )
    file.close()
  })

  test('gives another segment the number of one that was lost, and an index that is open sees it', () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const write = (texts: string[]) =>
      file.write(() => {
        const batch = newBatch()
        for (const [position, text] of texts.entries())
          addToBatch(batch, { title: '', heading: '', document: 1, position, page: null, text })
        writeBatch(file, batch)
        raiseVersion(file)
      })
    const index = new KnowledgeIndex(file)
    const df = (word: string) => index.read((read) => dfOf(read, `e${word}`))
    write(['The walnut is brown.'])
    assert.deepEqual([df('walnut'), df('almond')], [1, 0])
    file.write(() => {
      for (const table of ['passage', 'post', 'segment', 'sqlite_sequence']) file.run(`DELETE FROM ${table}`)
    })
    write(['The almond is white.', 'It rains.'])
    assert.deepEqual([df('walnut'), df('almond')], [0, 1])
    file.close()
  })

  test('gives up what was written of a large document that failed', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => {
      acceptDocument(file, newId(), textOf(paragraphs(40, 'hazel')), 0)
      acceptDocument(file, newId(), textOf('The almond is white.'), 1)
    })
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 5 } }
    await indexSome(file, work)
    const failed = listTasks(file, 1)[0]!
    file.write(() => failTask(file, failed, { code: 'internal_error', message: '' }, 2))
    work.large.leave(agent)
    assert.notEqual(file.get('SELECT 1 FROM dead WHERE staged = 1'), undefined)
    while (await indexSome(file, work));
    assert.equal(file.get('SELECT 1 FROM dead WHERE staged = 1'), undefined)
    while (eraseSome(file));
    assert.deepEqual(file.all('SELECT text FROM passage'), [{ text: 'The almond is white.' }])
    file.close()
  })

  test('gives up joining where steps of it were lost', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, documents: 1 } }
    for (let i = 0; i < 8; i++) {
      file.write(() => acceptDocument(file, newId(), textOf(`Walnut ${i} and ${paragraphs(2, `almond${i}`)}`), i))
      while (await indexSome(file, work));
    }
    for (const sql of [
      'DELETE FROM post WHERE segment = ?',
      'DELETE FROM segment WHERE number = ?',
      'UPDATE segment SET n = 1 WHERE number = ?',
    ]) {
      const merge = Merge.begin(file, true)!
      assert.equal(merge.step(file, 0), true)
      const { number } = file.get<{ number: number }>('SELECT number FROM segment WHERE n = 0')!
      file.write(() => file.run(sql, number))
      assert.throws(() => merge.step(file, 0), { code: 'unavailable' })
      file.write(() => {
        file.run('DELETE FROM segment WHERE number = ?', number)
        file.run('DELETE FROM post WHERE segment = ?', number)
      })
    }
    const merge = Merge.begin(file, true)!
    while (merge.step(file, 0));
    const questions = new Questions({ openToRead: () => file })
    assert.equal(questions.retrieve(agent, { query: 'walnut', history: [], topK: 10, filter: null }).hits.length, 8)
    file.close()
  })

  test('erases lists that an index has read before', () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const batch = newBatch()
    for (let position = 0; position < 20; position++)
      addToBatch(batch, {
        ...{ title: '', heading: '', document: 1, position, page: null },
        text: position === 0 ? 'The walnut is brown.' : 'It rains.',
      })
    const index = new KnowledgeIndex(file)
    const walnuts = () => index.read((read) => dfOf(read, 'ewalnut'))
    const first = file.write(() => writeBatch(file, batch))
    assert.equal(walnuts(), 1)
    file.write(() => {
      markDeleted(file, first, first, '')
      raiseVersion(file)
    })
    assert.equal(walnuts(), 1, 'the dead count until they are erased')
    eraseSome(file)
    file.write(() => raiseVersion(file))
    assert.equal(walnuts(), 0)
    file.close()
  })

  test('erases many small documents in few steps', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const ids = Array.from({ length: 120 }, () => newId())
    file.write(() => {
      for (const [i, id] of ids.entries()) acceptDocument(file, id, textOf(`Walnut ${i}.`), i)
    })
    while (await indexSome(file, workOn(agent)));
    file.write(() => {
      // Every other one, so that no two lie side by side.
      for (const [i, id] of ids.entries()) {
        const { first, last, indexedTitle } = i % 2 === 0 ? removeDocument(file, id)! : { first: 0, last: -1, indexedTitle: '' }
        markDeleted(file, first, last, indexedTitle)
      }
    })
    let steps = 0
    while (eraseSome(file)) steps++
    assert.ok(steps <= 2, `${steps} steps`)
    const { passages, words } = file.get<{ passages: number; words: number }>(
      'SELECT (SELECT count(*) FROM passage) AS passages, (SELECT count(*) FROM word) AS words',
    )!
    assert.deepEqual([passages, words], [60, 61])
    file.close()
  })

  test('joins segments while there are documents to index', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index: { documents: 1 } })
    const questions = new Questions(new KnowledgeFolder(folder))
    const documents = 300
    await Promise.all(Array.from({ length: documents }, (_, i) => ingest.add(agent, newId(), textOf(`Walnut ${i}.`))))
    const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
    let most = 0
    while (questions.listDocuments(agent, { limit: 1, status: 'ready' })!.total < documents) {
      most = Math.max(most, countSegments(file))
      await nextTurn()
    }
    assert.ok(most < documents / 2, `${most} segments`)
    file.close()
    questions.close()
    await ingest.close()
  })

  test('erases no more bytes of lists in one step than it may, and leaves no word behind', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const words = Array.from({ length: 50 }, (_, i) => `gone${i}`).join(' ')
    const batch = newBatch()
    for (let position = 0; position < 1_000; position++)
      addToBatch(batch, { title: '', heading: '', text: position < 150 ? words : 'stays', document: 1, position, page: null })
    file.write(() => {
      const first = writeBatch(file, batch)
      markDeleted(file, first, first + 149, '')
    })
    const bytes = () => file.get<{ n: number | null }>('SELECT sum(length(data)) AS n FROM post')!.n!
    let longest = 0
    for (let before = bytes(); eraseSome(file, 2_000); before = bytes()) longest = Math.max(longest, before - bytes())
    assert.ok(longest < 3_000, `${longest} bytes in one step`)
    assert.deepEqual(file.all('SELECT word FROM word'), [{ word: 'stays' }])
    assert.deepEqual(file.all("SELECT key FROM post WHERE key LIKE '%gone%'"), [])
    file.close()
  })

  test('of a large document leaves others their turn, and nothing of its content', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    const questions = new Questions(new KnowledgeFolder(folder))
    const other = randomUUID()
    const ended: string[] = []
    const large = ingest.add(agent, newId(), textOf('heron '.repeat(1_000_000))).then(() => ended.push('large'))
    await ingest.add(other, newId(), textOf('A walnut.')).then(() => ended.push('small'))
    await large
    assert.deepEqual(ended, ['small', 'large'])
    await idle(questions)
    await until(async () => readdirSync(folder).every((name) => !name.endsWith('.pending')))
    const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
    for (const table of ['content', 'large_content', 'content_piece']) assert.deepEqual(file.all(`SELECT * FROM ${table}`), [])
    file.close()
    questions.close()
    await ingest.close()
  })

  test('deletes what a crash left of a content that was being written', async () => {
    const folder = newFolder()
    const path = join(folder, `${agent}.db`)
    const left = KnowledgeFile.openToWrite(path)
    left.write(() => putPiece(left, undefined, 0, Buffer.from('The secret of the walnut.'), 1_000))
    left.close()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: () => 2_000 })
    await ingest.add(agent, newId(), textOf('A walnut.'))
    await until(async () => readdirSync(folder).every((name) => !name.endsWith('.pending')))
    await ingest.close()
    assert.ok(!readFileSync(path).includes('The secret of the walnut.'))
  })

  test('deletes pieces of a content some at a time, and goes on', async () => {
    const folder = newFolder()
    const id = newId()
    const file = KnowledgeFile.openToWrite(join(folder, `${agent}.db`))
    file.write(() => {
      const content = putPiece(file, undefined, 0, Buffer.from('walnut'), 1_000)
      for (let number = 1; number < 400; number++) putPiece(file, content, number, Buffer.from('walnut'), 1_000)
      acceptDocument(file, id, textOf('The almond is white.'), 0)
    })
    const pieces = () => file.get<{ n: number }>('SELECT count(*) AS n FROM content_piece')!.n
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: () => 2_000 })
    const questions = new Questions(new KnowledgeFolder(folder))
    ingest.resume([agent])
    const seen = new Set<number>()
    while (questions.findDocument(agent, id)!.status !== 'ready' || pieces() > 0) {
      seen.add(pieces())
      await nextTurn()
    }
    assert.ok(seen.size >= 4, `${[...seen]} pieces were left`)
    file.close()
    questions.close()
    await ingest.close()
  })

  test('goes on while a large document of the same agent is erased', async () => {
    const folder = newFolder()
    const [large, small] = [newId(), newId()]
    const file = KnowledgeFile.openToWrite(join(folder, `${agent}.db`))
    file.write(() => acceptDocument(file, large, textOf(paragraphs(4_000, 'walnut')), 0))
    while (await indexSome(file, workOn(agent)));
    const extent = file.write(() => removeDocument(file, large))!
    file.write(() => {
      markDeleted(file, extent.first, extent.last, extent.indexedTitle)
      acceptDocument(file, small, textOf('The almond is white.'), 0)
    })
    const passages = () => file.get<{ n: number }>('SELECT count(*) AS n FROM passage')!.n
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    const questions = new Questions(new KnowledgeFolder(folder))
    // The process that reads is there: a turn that waited for it would be followed by as much time to erase.
    const other = newId()
    const first = newId()
    await ingest.add(other, first, textOf('The hazel is red.'))
    await until(async () => questions.findDocument(other, first)!.status === 'ready')
    ingest.resume([agent])
    while (questions.findDocument(agent, small)!.status !== 'ready') await nextTurn()
    assert.ok(passages() > 1_000, `${passages()} passages are left`)
    await until(async () => passages() === 1)
    await until(async () => file.get('SELECT 1 FROM dead') === undefined)
    file.close()
    questions.close()
    await ingest.close()
  })

  test('of many agents lets others have their turns between the scrubs of two bases', async () => {
    const agents = [randomUUID(), randomUUID(), randomUUID()]
    const scrubbed = new Set<string>()
    class Watched extends KnowledgeFolder {
      override openToWrite(agentId: string) {
        const base = super.openToWrite(agentId)
        const scrub = base.scrub.bind(base)
        base.scrub = () => {
          scrubbed.add(agentId)
          return scrub()
        }
        return base
      }
    }
    const bases = new OpenBases(new Watched(newFolder()), () => false)
    for (const agentId of agents) {
      bases.open(agentId)
      bases.scrubLater(agentId)
      bases.scrub(agentId)
    }
    const seen = new Set<number>()
    while (scrubbed.size < 3) {
      seen.add(scrubbed.size)
      await nextTurn()
    }
    assert.deepEqual([...seen], [0, 1, 2])
    bases.close()
  })

  test('goes on while a large document is changed again and again', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const [large, small] = [newId(), newId()]
    file.write(() => acceptDocument(file, large, textOf(paragraphs(60, 'hazel'), { title: 'Hazel' }), 0))
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, passages: 5 } }
    while (await indexSome(file, work));
    file.write(() => acceptDocument(file, small, textOf('The almond is white.'), 1))
    for (let at = 2; at < 5; at++) {
      file.write(() => changeDocument(file, large, { title: `Filbert ${at}` }, at))
      assert.equal(await indexSome(file, work), true)
    }
    assert.equal(drive(file, findDocument(small))!.status, 'ready')
    assert.notEqual(drive(file, findDocument(large))!.title, 'Hazel')
    file.close()
  })

  test('goes on while more documents, pages or sites than one turn takes are changed again and again', () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const urls = [1, 2, 3].map((n) => `https://example.com/${n}`)
    const ids = urls.map(() => newId())
    const fetchAll = (some: string[], at: number) => {
      for (const url of some) {
        acceptDocument(file, newId(), { source: { type: 'url', url }, mediaType: '', metadata: {} }, at)
        acceptSite(file, newId(), { type: 'site', url }, at)
      }
    }
    file.write(() => {
      for (const [i, id] of ids.entries()) acceptDocument(file, id, textOf(`Almond ${i}.`), i)
      fetchAll(urls, 1)
    })
    file.write(() => {
      for (const id of ids.slice(0, 2)) changeDocument(file, id, { metadata: { year: 2026 } }, 4)
      fetchAll(urls.slice(0, 2), 4)
    })
    assert.equal(listTasks(file, 1)[0]?.number, 3)
    assert.deepEqual(
      [listFetches(file, new Set(), 1), listRuns(file, new Set(), 1)].map(([first]) => first?.url),
      [urls[2], urls[2]],
    )
    file.close()
  })

  test('gives up a content whose document is refused', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    assert.equal(await ingest.replace(agent, newId(), textOf('heron '.repeat(500_000))), undefined)
    await until(async () => readdirSync(folder).every((name) => !name.endsWith('.pending')))
    await ingest.close()
    assert.ok(!readFileSync(join(folder, `${agent}.db`)).includes('heron heron'))
  })

  test('of many small documents keeps the index in few parts', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now, index: { documents: 1, passages: 1 } })
    const questions = new Questions(new KnowledgeFolder(folder))
    for (let i = 0; i < 100; i++) await ingest.add(agent, newId(), textOf(`Note ${i} about the walnut.`))
    await idle(questions)
    await until(async () => readdirSync(folder).every((name) => !name.endsWith('.pending')))
    const file = KnowledgeFile.openToRead(join(folder, `${agent}.db`))!
    assert.ok(file.all('SELECT number FROM segment').length < 8)
    file.close()
    assert.equal(count(questions, 'walnut'), 100)
    questions.close()
    await ingest.close()
  })

  test('of an agent that is deleted while a document is read leaves no file behind', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    await ingest.add(agent, newId(), { ...textOf('<p>The walnut is brown.</p>'), mediaType: 'text/html' })
    await new Promise((resolve) => setTimeout(resolve, 60))
    await ingest.removeAgent(agent)
    await new Promise((resolve) => setTimeout(resolve, 1_600))
    assert.deepEqual(readdirSync(folder), [])
    await ingest.close()
  })

  test('of an agent that was deleted makes no file for what is told too late', async () => {
    const folder = newFolder()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    await ingest.add(agent, newId(), textOf('The walnut is brown.'))
    await ingest.removeAgent(agent)
    assert.deepEqual(ingest.listDocumentEvents(agent, 10), [])
    await ingest.deleteDocumentEvents(agent, [])
    assert.deepEqual(await ingest.takeUnembedded(agent, 'm', 10), [])
    assert.equal(await ingest.putVectors(agent, 'm', [1], [null]), false)
    assert.equal(await ingest.growNear(agent, 'm'), 'done')
    assert.deepEqual(readdirSync(folder), [])
    await ingest.close()
  })

  test('ends the turn of an agent also where its documents fail, and reads none ahead of a slow one', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const count = 20
    file.write(() => {
      for (let i = 0; i < count; i++) acceptDocument(file, newId(), textOf(`The walnut ${i} is brown.`), 0)
    })
    const work = {
      clock: Date.now,
      isOver: () => false,
      unreleased: new Set<Task>(),
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => false,
      large: new LargeDocuments(anyRoom),
      agentId: agent,
    }
    let begun = 0
    const slow = Promise.withResolvers<void>()
    const fails = async () => {
      begun++
      await slow.promise
      throw new DocumentError('damaged', 'It is damaged.')
    }
    const turn = indexSome(file, { ...work, limits: { ...INDEX_LIMITS, turnMs: 0 }, read: fails })
    await new Promise((resolve) => setTimeout(resolve, 300))
    assert.equal(begun, 1)
    slow.resolve()
    assert.equal(await turn, true)
    assert.deepEqual([begun, listTasks(file, count).length], [1, count - 1])
    while (await indexSome(file, { ...work, limits: INDEX_LIMITS, read: fails }));
    assert.deepEqual([begun, listTasks(file, count)], [count, []])
    file.close()
  })

  test('counts no attempt at a document whose begin, or whose reading, the store broke off', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => void acceptDocument(file, newId(), textOf('The walnut is brown.'), 0))
    const write = file.write.bind(file)
    const slow = new SlowReadings<Task, DocumentReading | undefined>()
    const work = {
      ...{ agentId: agent, clock: Date.now, isOver: () => false, othersWait: () => false, unreleased: new Set<Task>() },
      ...{ limits: { ...INDEX_LIMITS, slowMs: 0 }, slow, large: new LargeDocuments(anyRoom), read: readDocument },
    }
    const attempts = () => listTasks(file, 1)[0]?.attempts
    const breakOff = async (writes: ('before' | 'after')[], read = readDocument as typeof work.read) => {
      file.write = (act, options) => {
        const broken = writes.shift()
        const result = broken === 'before' ? undefined : write(act, options)
        if (broken !== undefined) throw commitsLost()
        return result as ReturnType<typeof act>
      }
      await assert.rejects(indexSome(file, { ...work, read }), { code: 'unavailable' })
      file.write = write
    }
    // It was stored, and to take it back was not possible; it was not stored; it was taken back, which nobody knew.
    await breakOff(['after', 'before'])
    assert.equal(attempts(), 1)
    await breakOff(['before', 'before'])
    await breakOff(['after', 'after', 'after'])
    const cut = async () => {
      throw commitsLost()
    }
    await breakOff([], cut)
    assert.equal(attempts(), 0)
    // One that is being read when another turn begins.
    const gate = Promise.withResolvers<void>()
    const late = async () => {
      await gate.promise
      throw commitsLost()
    }
    assert.equal(await indexSome(file, { ...work, read: late }), true)
    assert.deepEqual([attempts(), slow.size], [1, 1])
    gate.resolve()
    await nextTurn()
    await breakOff([])
    assert.deepEqual([attempts(), slow.size], [0, 0])
    while (await indexSome(file, work));
    assert.equal(attempts(), undefined)
    file.close()
  })

  test('reads documents that take long beside the others, and forgets one that was changed meanwhile', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const texts = ['The walnut is brown.', 'The hazelnut is round.', 'The almond is white.', 'The cashew is bent.']
    const ids = texts.map(() => newId())
    file.write(() => {
      for (const [i, text] of texts.entries()) acceptDocument(file, ids[i]!, textOf(text), 0)
    })
    const gates = new Map(['walnut', 'hazelnut'].map((name) => [name, Promise.withResolvers<void>()]))
    const settled: number[] = []
    const slow = new SlowReadings<Task, DocumentReading | undefined>({ settled: () => settled.push(1) })
    const begun: string[] = []
    const read = async (input: ReadInput) => {
      const text = Buffer.from(input.content).toString()
      begun.push(text)
      await gates.get(/\w+nut/.exec(text)?.[0] ?? '')?.promise
      return readDocument(input)
    }
    const limits = { ...INDEX_LIMITS, slowMs: 0 }
    const large = new LargeDocuments(anyRoom)
    const same = { agentId: agent, clock: Date.now, isOver: () => false, othersWait: () => false, unreleased: new Set<Task>() }
    const work = { ...same, limits, slow, large, read }
    const waiting = () => listTasks(file, 10).map(({ number, attempts }) => [number, attempts])
    // One turn each: what takes long ends it. Of an agent that has one under way the next is not waited for. With two under way the others wait.
    const patient = { ...work, limits: { ...limits, slowMs: 3_600_000 } }
    assert.equal(await indexSome(file, { ...patient, othersWait: () => true }), true)
    assert.equal(slow.underWay(), 1)
    assert.equal(await indexSome(file, patient), true)
    assert.equal(await indexSome(file, work), false)
    assert.deepEqual(begun, texts.slice(0, 2))
    assert.deepEqual(
      [slow.underWay(), waiting()],
      [
        2,
        [
          [1, 1],
          [2, 1],
          [3, 0],
          [4, 0],
        ],
      ],
    )
    gates.get('walnut')!.resolve()
    await until(async () => settled.length === 1)
    while (await indexSome(file, work));
    assert.deepEqual([begun, waiting()], [texts, [[2, 1]]])
    // The version that is being read is none of the document's any more.
    file.write(() => acceptVersion(file, ids[1]!, textOf('The pecan is long.'), 0))
    gates.get('hazelnut')!.resolve()
    await until(async () => settled.length === 2)
    while (await indexSome(file, work));
    assert.deepEqual([begun.at(-1), waiting(), slow.size], ['The pecan is long.', [], 0])
    const found = file.all<{ text: string }>('SELECT text FROM passage ORDER BY text').map(({ text }) => text)
    assert.deepEqual(found, [texts[2], texts[3], 'The pecan is long.', texts[0]])
    file.close()
  })

  test('goes on with small texts while PDFs take long to read', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const note = newId()
    file.write(() => {
      for (const mediaType of ['application/pdf', 'application/pdf; x=1', 'application/PDF'])
        acceptDocument(file, newId(), textOf(`A PDF: ${mediaType}`, { mediaType }), 0)
      acceptDocument(file, note, textOf('The walnut is brown.'), 1)
    })
    const isPdf = ({ mediaType }: ReadInput) => mediaType !== 'text/plain'
    const read = (input: ReadInput) => (isPdf(input) ? new Promise<never>(() => {}) : readDocument(input))
    const slow = new SlowReadings<Task, DocumentReading | undefined>({ isQuick: isQuickToRead })
    const work = { ...workOn(agent), limits: { ...INDEX_LIMITS, slowMs: 0 }, slow, read }
    while (await indexSome(file, work));
    assert.equal(drive(file, findDocument(note))!.status, 'ready')
    assert.equal(slow.underWay(), 2)
    file.close()
  })

  test('of a document that takes long ends its turn when another agent begins to wait', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => acceptDocument(file, newId(), textOf('The walnut is brown.'), 0))
    let looks = 0
    const slow = new SlowReadings<Task, DocumentReading | undefined>()
    const limits = { ...INDEX_LIMITS, slowMs: 3_600_000 }
    const read = () => new Promise<never>(() => {})
    const work = { ...workOn(agent), limits, slow, read, othersWait: () => looks++ > 3 }
    assert.equal(await indexSome(file, work), true)
    assert.equal(slow.underWay(), 1)
    file.close()
  })

  test('leaves out documents for which there is no room, and counts no attempt at them', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const texts = ['The walnut is brown.', 'The hazelnut is round and small.', 'The oak is old.']
    for (const text of texts) file.write(() => acceptDocument(file, newId(), textOf(text), 0))
    const work = { ...workOn(agent), mayRead: (bytes: number) => bytes < texts[1]!.length }
    assert.equal(await indexSome(file, work), true)
    assert.deepEqual(
      listTasks(file, 10).map(({ number, attempts }) => [number, attempts]),
      [[2, 0]],
    )
    assert.equal(await indexSome(file, work), false)
    file.close()
  })

  test('of a large document that was under way at a crash begins once', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => acceptDocument(file, newId(), textOf(paragraphs(60, 'hazel')), 0))
    file.write(() => startTasks(file, listTasks(file, 1)))
    let readings = 0
    const limits = { ...INDEX_LIMITS, passages: 5 }
    const work = {
      ...{ agentId: agent, clock: Date.now, limits, isOver: () => false, unreleased: new Set<Task>() },
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => false,
      large: new LargeDocuments(anyRoom),
      read: (input: ReadInput) => {
        readings++
        return readDocument(input)
      },
    }
    assert.equal(await indexSome(file, work), true)
    assert.deepEqual([readings, listTasks(file, 1)[0]?.attempts], [1, 1])
    while (await indexSome(file, work));
    assert.deepEqual([readings, listTasks(file, 1)], [1, []])
    file.close()
  })

  test('keeps what was sent when the store, and not the document, is at fault', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => acceptDocument(file, newId(), textOf('The walnut is brown.'), 0))
    const work = workOn(agent)
    for (const error of [new ReparteeError('unavailable', 'The database is away.'), new Error('a fault of ours')])
      await assert.rejects(indexSome(file, { ...work, read: () => Promise.reject(error) }), error)
    const [task] = listTasks(file, 1)
    assert.deepEqual([task?.work, task?.attempts], ['read', 0])
    assert.equal(Buffer.from(contentOf(file, task!.number)).toString(), 'The walnut is brown.')
    await indexSome(file, { ...work, read: readDocument })
    assert.deepEqual(listTasks(file, 1), [])
    file.close()
  })

  test('gives up a document that was alone under way at several ends of the process, and no other', async () => {
    const folder = newFolder()
    const [guilty, other] = [newId(), newId()]
    const file = KnowledgeFile.openToWrite(join(folder, `${agent}.db`))
    file.write(() => {
      for (const id of [guilty, other]) acceptDocument(file, id, textOf(`The walnut of ${id}.`), 0)
      const [first, second] = listTasks(file, 2)
      startTasks(file, [first!, second!])
      for (let n = 0; n < 4; n++) startTasks(file, [first!])
    })
    file.close()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    const questions = new Questions(new KnowledgeFolder(folder))
    ingest.resume([agent])
    await idle(questions)
    assert.equal(questions.findDocument(agent, guilty)?.status, 'failed')
    assert.match(questions.findDocument(agent, guilty)?.error?.message ?? '', /failed 5 times/)
    assert.equal(questions.findDocument(agent, other)?.status, 'ready')
    questions.close()
    await ingest.close()
  })

  test('is tried again for as long as the machine has no process, memory or descriptor to spare', async () => {
    const folder = newFolder()
    const id = newId()
    const file = KnowledgeFile.openToWrite(join(folder, `${agent}.db`))
    file.write(() => acceptDocument(file, id, textOf('The walnut is brown.'), 0))
    file.close()
    const refusals = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'EAGAIN', 'EAGAIN'].map((code) =>
      Object.assign(new Error(code), { code }),
    )
    class Busy extends KnowledgeFolder {
      override openToWrite(agentId: string) {
        const refusal = refusals.pop()
        if (refusal !== undefined) throw refusal
        return super.openToWrite(agentId)
      }
    }
    const ingest = new Ingest({ store: new Busy(folder), clock: Date.now, retryAfterMs: 1 })
    const questions = new Questions(new KnowledgeFolder(folder))
    ingest.resume([agent])
    await until(async () => questions.findDocument(agent, id)?.status === 'ready')
    assert.deepEqual(refusals, [])
    questions.close()
    await ingest.close()
  })

  test('fails a document that cannot be written, at the fifth attempt, and indexes those that were sent with it', async () => {
    const folder = newFolder()
    const [hostile, other] = [newId(), newId()]
    const file = KnowledgeFile.openToWrite(join(folder, `${agent}.db`))
    file.write(() => {
      acceptDocument(file, hostile, textOf('The hemlock of the ditch.'), 0)
      acceptDocument(file, other, textOf('The walnut of the garden.'), 0)
    })
    file.close()
    const database = new DatabaseSync(join(folder, `${agent}.db`))
    database.exec(
      `CREATE TRIGGER t BEFORE INSERT ON passage WHEN NEW.text LIKE '%hemlock%' BEGIN SELECT RAISE(ABORT, 'hemlock'); END`,
    )
    database.close()
    const failures: unknown[] = []
    const ingest = new Ingest({
      ...{ store: new KnowledgeFolder(folder), clock: Date.now, retryAfterMs: 1 },
      warn: (_, error) => failures.push(error),
    })
    const questions = new Questions(new KnowledgeFolder(folder))
    ingest.resume([agent])
    await idle(questions)
    assert.equal(questions.findDocument(agent, other)?.status, 'ready')
    const { status, error } = questions.findDocument(agent, hostile)!
    assert.deepEqual(
      { status, error },
      { status: 'failed', error: { code: 'internal_error', message: 'Reading or indexing this document failed 5 times.' } },
    )
    // On a slow machine the other document is indexed between two failures, and the next failure counts as a first one.
    assert.deepEqual([...new Set(failures.map((failure) => ((failure as Error).cause as Error).message))], ['hemlock'])
    questions.close()
    await ingest.close()
  })

  test('does not wait for the reading of a document whose agent is deleted meanwhile', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    file.write(() => acceptDocument(file, newId(), textOf('The walnut of the garden.'), 0))
    let isOver = false
    await indexSome(file, {
      ...{ agentId: agent, clock: Date.now, limits: INDEX_LIMITS, isOver: () => isOver, unreleased: new Set<Task>() },
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => true,
      large: new LargeDocuments(anyRoom),
      read: () => {
        setTimeout(() => {
          isOver = true
        }, 10)
        return new Promise(() => {})
      },
    })
    file.close()
  })

  test('fails a document whose new title cannot be written, at the fifth attempt; its text is still found', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const work = {
      ...{ agentId: agent, clock: Date.now, limits: INDEX_LIMITS, isOver: () => false, unreleased: new Set<Task>() },
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => false,
      large: new LargeDocuments(anyRoom),
      read: readDocument,
    }
    const id = newId()
    file.write(() => acceptDocument(file, id, textOf('The walnut of the garden.'), 0))
    await indexSome(file, work)
    file.write(() => changeDocument(file, id, { title: 'Hemlock' }, 0))
    file.run(
      `CREATE TRIGGER t BEFORE UPDATE ON document WHEN NEW.indexed_title = 'Hemlock' BEGIN SELECT RAISE(ABORT, 'hemlock'); END`,
    )
    for (let attempt = 1; attempt <= 5; attempt++) await assert.rejects(indexSome(file, work), { name: 'WriteFailure' })
    assert.equal(await indexSome(file, work), true)
    assert.equal(await indexSome(file, work), false)
    assert.deepEqual(file.get('SELECT status, first, last FROM document'), { status: 'failed', first: 1, last: 1 })
    file.close()
  })

  test('fails a document with a new title of which a passage is missing, at the fifth attempt', async () => {
    const file = KnowledgeFile.openToWrite(join(newFolder(), `${agent}.db`))
    const id = newId()
    file.write(() => acceptDocument(file, id, textOf(paragraphs(10, 'walnut')), 0))
    const work = workOn(agent)
    await indexSome(file, work)
    file.run('DELETE FROM passage WHERE id = 2')
    file.write(() => changeDocument(file, id, { title: 'Hemlock' }, 0))
    for (let attempt = 1; attempt <= 5; attempt++) await assert.rejects(indexSome(file, work), { name: 'WriteFailure' })
    assert.equal(await indexSome(file, work), true)
    assert.equal(drive(file, findDocument(id))!.status, 'failed')
    file.close()
  })

  test('refuses a file of a newer version', async () => {
    const folder = newFolder()
    const newer = new DatabaseSync(join(folder, `${agent}.db`))
    newer.exec('PRAGMA user_version = 99')
    newer.close()
    const ingest = new Ingest({ store: new KnowledgeFolder(folder), clock: Date.now })
    await assert.rejects(ingest.add(agent, newId(), textOf('x')), /newer version/)
    await ingest.close()
  })
})

/** More by hand: `CRASH_ROUNDS=20 node --test test/knowledge/knowledge.test.ts`. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)

describe('a process killed while documents are read', () => {
  test('loses nothing that it accepted, and leaves nothing half done', async () => {
    const folder = newFolder()
    const agent = randomUUID()
    const accepted = new Set<string>()
    const deleted = new Set<string>()
    for (let round = 0; round < ROUNDS; round++) {
      const aliveMs = 350 + ((round * 173) % 500)
      const child = fork(new URL('../support/knowledge-writer.ts', import.meta.url), [folder, agent], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      const gone = new Promise((resolve) => child.once('exit', resolve))
      await new Promise<void>((resolve) => {
        child.on('message', (message: { added?: string; deleted?: string }) => {
          if (message.added !== undefined) {
            accepted.add(message.added)
            setTimeout(resolve, aliveMs)
          }
          if (message.deleted !== undefined) deleted.add(message.deleted)
        })
      })
      child.kill('SIGKILL')
      await gone
    }
    assert.ok(accepted.size > 0)
    const knowledge = open(folder)
    await knowledge.start()
    await settled(knowledge, agent)
    const failed = await knowledge.listDocuments(agent, { limit: 5, status: 'failed' })
    assert.deepEqual(
      failed!.items.map(({ error }) => error),
      [],
    )
    // The word stands in every document once: every one is found, once, or was deleted.
    const { documents, passages } = await knowledge.count(agent)
    assert.equal(documents, passages)
    for (const id of accepted) {
      const document = await knowledge.findDocument(agent, id)
      if (deleted.has(id)) assert.equal(document, undefined)
      // A delete that was asked for but not acknowledged may have happened.
      else if (document !== undefined) assert.equal(document.status, 'ready')
    }
    const { hits } = await knowledge.retrieve(agent, { query: 'persimmon', history: [], topK: 100, filter: null })
    assert.equal(new Set(hits.map((hit) => hit.passageId)).size, hits.length)
    assert.equal(hits.length, Math.min(100, passages))
    for (const id of deleted) assert.ok(!hits.some((hit) => hit.documentId === id))
    await knowledge.close()
  })
})
