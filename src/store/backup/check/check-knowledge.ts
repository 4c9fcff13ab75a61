import type { KnowledgeBase } from '../../knowledge/base.ts'
import { letterOf, SegmentBuilder, streams } from '../../knowledge/index/build.ts'
import { numbersOf } from '../../knowledge/index/posting.ts'
import { type Range, rangeOf } from '../../knowledge/index/ranges.ts'
import { listSegments } from '../../knowledge/index/segments.ts'
import { countsOf } from '../../knowledge/index/vocabulary.ts'
import { SPACE_STEP } from '../../knowledge/vectors.ts'
import { drive } from '../../knowledge/work.ts'
import type { Problem } from './check-conversations.ts'

interface PassageRow {
  id: number
  document: number
  heading: string
  text: string
}

/** Passages that were indexed under one title. */
interface Titled extends Range {
  title: string
}

interface Extent extends Titled {
  document: number
}

/** Checks a knowledge base: analyses every passage again and compares it with the index. */
export function checkKnowledge(base: KnowledgeBase): Problem[] {
  return base.read(() => new KnowledgeCheck(base).run())
}

class KnowledgeCheck {
  readonly #base: KnowledgeBase
  readonly #problems = new Map<string, Problem>()
  readonly #documents: Extent[]
  readonly #dead: Titled[]
  /** Expected index entries of each live passage: the sum of their hashes. */
  readonly #expected = new Map<number, number>()
  readonly #words = new Map<string, number>()
  /** Live or not yet erased. */
  readonly #passages = new Set<number>()

  constructor(base: KnowledgeBase) {
    this.#base = base
    this.#documents = base.all<Extent>(
      'SELECT number AS document, first, last, indexed_title AS title FROM {document} WHERE last >= first ORDER BY first',
    )
    this.#dead = base.all<Titled>('SELECT first, last, title FROM {dead} ORDER BY first')
  }

  run(): Problem[] {
    this.#readPassages()
    this.#checkDocuments()
    this.#checkSegments()
    this.#checkVocabulary()
    this.#checkVectors()
    return [...this.#problems.values()]
  }

  #report(what: string, example: string): void {
    const known = this.#problems.get(what)
    if (known === undefined) this.#problems.set(what, { what, count: 1, example })
    else known.count++
  }

  #readPassages(): void {
    const counts = new Map<number, number>()
    for (const row of this.#base.iterate<PassageRow>('SELECT id, document, heading, text FROM {passage} ORDER BY id')) {
      this.#passages.add(row.id)
      const dead = rangeOf(this.#dead, row.id)
      const live = dead === undefined ? rangeOf(this.#documents, row.id) : undefined
      if (dead === undefined && live?.document !== row.document) {
        this.#report('passages of no document', `passage ${row.id}`)
        continue
      }
      const builder = new SegmentBuilder()
      builder.add({ title: (dead ?? live!).title, heading: row.heading, text: row.text })
      for (const [word, n] of countsOf(builder).words) this.#words.set(word, (this.#words.get(word) ?? 0) + n)
      if (live === undefined) continue
      counts.set(row.document, (counts.get(row.document) ?? 0) + 1)
      let sum = 0
      for (const stream of streams) for (const term of builder.lists[stream].terms) sum = add(sum, letterOf[stream] + term)
      this.#expected.set(row.id, sum)
    }
    for (const { document, first, last } of this.#documents)
      if ((counts.get(document) ?? 0) !== last - first + 1)
        this.#report('documents of which passages are missing', `document ${document}`)
  }

  #checkDocuments(): void {
    const waiting = this.#base.all<{ number: number }>(
      "SELECT number FROM {document} WHERE work = 'read' AND number NOT IN (SELECT document FROM {content}) AND number NOT IN (SELECT document FROM {large_content} WHERE document IS NOT NULL)",
    )
    for (const { number } of waiting) this.#report('documents that wait to be read, without their content', `document ${number}`)
    const left = this.#base.all<{ document: number }>(
      `SELECT document FROM {content} WHERE document NOT IN (SELECT number FROM {document})
       UNION SELECT document FROM {large_content} WHERE document NOT IN (SELECT number FROM {document})`,
    )
    for (const { document } of left) this.#report('contents of no document', `document ${document}`)
  }

  #checkSegments(): void {
    const seen = new Set<number>()
    for (const segment of drive(this.#base, listSegments())) {
      const found = new Uint32Array(segment.n)
      for (const id of segment.ids) {
        if (seen.has(id)) this.#report('passages that are indexed twice', `passage ${id}`)
        seen.add(id)
        if (!this.#passages.has(id) && rangeOf(this.#dead, id) === undefined)
          this.#report('indexed passages that are not there', `passage ${id}`)
      }
      const lists = this.#base.iterate<{ key: string; df: number; last: number; data: Uint8Array }>(
        'SELECT key, df, last, data FROM {post} WHERE segment = ?',
        segment.number,
      )
      for (const { key, df, last, data } of lists) {
        let [count, end] = [0, -1]
        for (const local of numbersOf(data, df)) {
          if (local >= segment.n) break
          found[local] = add(found[local]!, key)
          count++
          end = local
        }
        if (count !== df || end !== last) this.#report('lists that cannot be read', `segment ${segment.number}, a list of ${df}`)
      }
      for (const [local, id] of segment.ids.entries()) {
        const expected = this.#expected.get(id)
        if (expected !== undefined && expected !== found[local])
          this.#report('passages that are indexed under other words than they hold', `passage ${id}`)
      }
    }
    for (const id of this.#expected.keys()) if (!seen.has(id)) this.#report('passages that are not indexed', `passage ${id}`)
  }

  #checkVocabulary(): void {
    let known = 0
    for (const { word, df } of this.#base.iterate<{ word: string; df: number }>('SELECT word, df FROM {word} ORDER BY number')) {
      known++
      if (this.#words.get(word) !== df) this.#report('words that are counted wrongly', `one that counts ${df}`)
    }
    if (known < this.#words.size) this.#report('words that are not counted', `${this.#words.size - known} of ${this.#words.size}`)
  }

  #checkVectors(): void {
    const vectors = this.#base.iterate<{ space: number; id: number }>(
      `SELECT key / ${SPACE_STEP} AS space, key % ${SPACE_STEP} AS id FROM {vector} ORDER BY key`,
    )
    const spaces = new Set(this.#base.all<{ number: number }>('SELECT number FROM {vector_space}').map(({ number }) => number))
    // Vectors of a dropped space are not reported: the running service erases them.
    for (const { space, id } of vectors)
      if (spaces.has(space) && !this.#passages.has(id)) this.#report('vectors of no passage', `passage ${id}`)
    this.#checkNear()
  }

  #checkNear(): void {
    const { near } = this.#base
    if (near === undefined) return
    for (const { space } of this.#base.all<{ space: number }>('SELECT space FROM {near} WHERE is_ready = 1')) {
      const [{ n: indexed }] = near.ask(`SELECT count(*) AS n FROM ${near.nameOf(space)}`, []) as [{ n: number }]
      const range = [space * SPACE_STEP, (space + 1) * SPACE_STEP - 1]
      const { n } = this.#base.get<{ n: number }>('SELECT count(*) AS n FROM {vector} WHERE key BETWEEN ? AND ?', ...range)!
      if (indexed !== n) this.#report('vectors that pgvector does not know, or knows and should not', `${n - indexed} of ${n}`)
    }
  }
}

/** Adds the FNV-1a hash of a name to a sum that does not depend on the order of names. */
function add(sum: number, name: string): number {
  let hash = 2_166_136_261
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16_777_619)
  return (sum + (hash >>> 0)) >>> 0
}
