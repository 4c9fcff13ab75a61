// A long question costs others little: of its words the telling ones are searched, over several turns.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, mock, test } from 'node:test'
import { Questions } from '../../src/knowledge/questions.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { addToBatch, newBatch, raiseVersion, writeBatch } from '../../src/store/knowledge/index/index.ts'
import { NotYet } from '../../src/store/knowledge/reader/filters.ts'
import { inTurns } from '../support/in-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-long-'))
after(() => rmSync(folder, { recursive: true }))

/** Each text has a segment of its own. */
function baseOf(name: string, texts: readonly string[]): KnowledgeFile {
  const file = KnowledgeFile.openToWrite(join(folder, name))
  file.write(() => {
    for (const [i, text] of texts.entries()) {
      const number = file.run(
        `INSERT INTO document (id, title, title_given, source, media_type, bytes, hash, metadata, status, progress, created_at, updated_at, first, last)
         VALUES (?, '', 0, '{"type":"text"}', '', 0, ?, '{}', 'ready', 1, 0, 0, ?, ?)`,
        ...[`d${i}`, new Uint8Array(0), i + 1, i + 1],
      )
      const batch = newBatch()
      addToBatch(batch, { title: '', heading: '', text, document: number, position: 0, page: null })
      writeBatch(file, batch)
    }
  })
  return file
}

/** What is found, and the looks for lists in segments: in each turn, and the keys of all. `between` is called between two turns. */
function ask(file: KnowledgeFile, query: string, between = () => {}) {
  const keys = new Set<unknown>()
  const turns = [0]
  const getMany = file.getMany.bind(file)
  file.getMany = (sql, each) => {
    if (sql.includes('FROM {post}')) {
      turns.push(turns.pop()! + each.length)
      for (const [, key] of each) keys.add(key)
    }
    return getMany(sql, each)
  }
  const questions = new Questions({ openToRead: () => file })
  const question = { query, history: [], topK: 1, filter: null }
  for (;;) {
    try {
      const { hits } = questions.retrieve('a', question)
      return { best: hits[0]?.text, keys, turns }
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
      turns.push(0)
      between()
    }
  }
}

const word = (i: number) => `word${String.fromCharCode(97 + (i % 26), 97 + Math.floor(i / 26))}`

describe('a long question', () => {
  test('is searched for the words that say most', () => {
    const common = Array.from({ length: 250 }, (_, i) => word(i))
    const texts = Array.from({ length: 20 }, (_, i) => `${common.join(' ')} number${i}`)
    const { keys } = ask(baseOf('words.db', [...texts, 'The walnut is brown.']), `${common.join(' ')} walnut`)
    assert.ok(keys.has('swalnut'))
    // Stems, titles and words of 64, and words alike of 32.
    assert.ok(keys.size <= 64 * 3 + 32 * 9, `${keys.size} keys`)
  })

  test('in a long history is searched for few n-grams of it, whoever said what', () => {
    const file = baseOf('history.db', ['The walnut is brown.'])
    let looks = 0
    const getMany = file.getMany.bind(file)
    file.getMany = (sql, each) => {
      if (sql.includes('gram')) looks += each.length
      return getMany(sql, each)
    }
    const letters = (i: number) =>
      createHash('sha256')
        .update(`${i}`)
        .digest('hex')
        .slice(0, 27)
        .replace(/\d/g, (digit) => 'ghijklmnop'[Number(digit)]!)
    const said = (from: number) => Array.from({ length: 70 }, (_, i) => letters(from * 70 + i)).join(' ')
    const users = Array.from({ length: 99 }, (_, i) => ({ role: 'USER' as const, content: said(i) }))
    const history = [...users, { role: 'AI' as const, content: 'Fine.' }]
    const questions = new Questions({ openToRead: () => file })
    const { hits } = questions.retrieve('a', { query: 'walnut it?', history, topK: 1, filter: null })
    assert.equal(hits.length, 1)
    // Of 64 words at most, and of the question.
    assert.ok(looks > 0 && looks < 64 * 40, `${looks} looks`)
  })

  test('of ideographs is searched by its beginning and its end', () => {
    const signs = (from: number, count: number) =>
      String.fromCharCode(...Array.from({ length: count }, (_, i) => 0x4e00 + from + i))
    const { best, keys } = ask(baseOf('signs.db', [signs(1_950, 40), signs(1_000, 40)]), signs(0, 2_000))
    assert.equal(best, signs(1_950, 40))
    assert.ok(keys.size < 1_600, `${keys.size} keys`)
  })

  test('of a base in many parts lets others have their turn', () => {
    const texts = Array.from({ length: 150 }, (_, i) => `The ${word(i)} is brown.`)
    const { best, turns } = ask(
      baseOf('parts.db', texts),
      `What of ${Array.from({ length: 60 }, (_, i) => word(i)).join(' ')} and ${word(149)}?`,
    )
    assert.match(best ?? '', /is brown/)
    assert.ok(turns.length > 2, `${turns.length} turns`)
    assert.ok(Math.max(...turns) <= 5_000, `${Math.max(...turns)} looks`)
  })

  test('to a base that changes all the time is answered in as many turns', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `repertory${i.toString(36)}`)
    const texts = [...Array.from({ length: 150 }, (_, i) => `The ${word(i)} is brown.`), names.join(' ')]
    const parts = `What of ${Array.from({ length: 60 }, (_, i) => word(i)).join(' ')} and ${word(149)}?`
    const misspelt = Array.from({ length: 60 }, (_, i) => `repertori${i.toString(36)}x`).join(' ')
    for (const [i, query] of [parts, misspelt].entries()) {
      const usual = ask(baseOf(`quiet${i}.db`, texts), query)
      const file = baseOf(`changing${i}.db`, texts)
      const changing = ask(file, query, () => file.write(() => raiseVersion(file)))
      assert.ok(usual.turns.length > 2, `${usual.turns.length} turns`)
      assert.equal(changing.turns.length, usual.turns.length)
      assert.equal(changing.best, usual.best)
    }
  })

  test('keeps its base open while questions are asked of many others', () => {
    baseOf('small.db', ['The walnut is brown.']).close()
    baseOf(
      'many.db',
      Array.from({ length: 150 }, (_, i) => `The ${word(i)} is brown.`),
    ).close()
    const opened: string[] = []
    const questions = new Questions({
      openToRead: (agentId) => {
        opened.push(agentId)
        return KnowledgeFile.openToRead(join(folder, agentId === 'a' ? 'many.db' : 'small.db'))
      },
    })
    const question = { query: Array.from({ length: 61 }, (_, i) => word(i)).join(' '), history: [], topK: 1, filter: null }
    const askOthers = () => {
      for (let i = 0; i < 70; i++) questions.count(`other${i}`)
    }
    assert.throws(() => questions.retrieve('a', question), NotYet)
    askOthers()
    for (let isAnswered = false; !isAnswered; ) {
      try {
        isAnswered = questions.retrieve('a', question).hits.length === 1
      } catch (error) {
        assert.ok(error instanceof NotYet)
      }
    }
    const timesOpened = () => opened.filter((id) => id === 'a').length
    assert.equal(timesOpened(), 1)
    askOthers()
    questions.count('a')
    assert.equal(timesOpened(), 2, 'closed when it was answered and others came')
    questions.close()
  })
})

describe('suggestions', () => {
  const names = ['walnut', 'hazel', 'copper', 'silver', 'lantern', 'harbour']
  const texts = names.map((name) => `## How does the ${name} shine?\n\nThe ${name} shines in the evening light.`)
  const file = baseOf('suggestions.db', texts)
  const questions = new Questions({ openToRead: () => file })
  const { result: retrieval } = inTurns(() =>
    questions.retrieve('a', { query: 'What shines in the evening?', history: [], topK: 6, filter: null }),
  )
  const suggest = () => {
    const input = { retrieval, asked: ['What shines in the evening?'], count: 3, filter: null }
    return inTurns(() => questions.suggest('a', input))
  }
  // Of a clock that goes on by so much each time that somebody looks at it.
  const withClock = <T>(stepMs: number, work: () => T): T => {
    let now = performance.now()
    const clock = mock.method(performance, 'now', () => {
      now += stepMs
      return now
    })
    try {
      return work()
    } finally {
      clock.mock.restore()
    }
  }

  test('let others have their turn after a search, and are the same', () => {
    const quick = withClock(0, suggest)
    const slow = withClock(21, suggest)
    assert.equal(quick.turns, 1)
    assert.ok(slow.turns > 2, `${slow.turns} turns`)
    assert.equal(quick.result.length, 3)
    assert.deepEqual(slow.result, quick.result)
  })

  test('look into the passages once, however many turns they take', () => {
    let looks = 0
    const counted = retrieval.hits.map((hit) => ({
      ...hit,
      get text() {
        looks++
        return hit.text
      },
    }))
    const suggest = () => {
      looks = 0
      const input = { retrieval: { ...retrieval, hits: counted }, asked: ['What shines in the evening?'], count: 3, filter: null }
      return { ...inTurns(() => questions.suggest('a', input)), looks }
    }
    const quick = withClock(0, suggest)
    const slow = withClock(21, suggest)
    assert.ok(slow.turns > 2 && quick.looks > 0, `${slow.turns} turns, ${quick.looks} looks`)
    assert.equal(slow.looks, quick.looks)
  })

  test('are given up when whoever asked has gone on', () => {
    assert.deepEqual(withClock(3_000, suggest), { result: [], turns: 2 })
  })
})
