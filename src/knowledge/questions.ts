import type { Document, DocumentStatus, ListedDocument, Passage } from '../core/document.ts'
import type { HistoryEntry } from '../core/message.ts'
import type { Page, PageInput } from '../core/page.ts'
import { withoutOwnWords } from '../core/phrases.ts'
import {
  type Extract,
  type ExtractInput,
  type Hit,
  noExtract,
  nothingFound,
  type Retrieval,
  type RetrieveInput,
  type SuggestInput,
  type Suggestion,
} from '../core/ports/retrieval.ts'
import type { Site } from '../core/site.ts'
import { BaseGone, type ReadableBase } from '../store/knowledge/base.ts'
import { countDocuments, countPassages, findDocument, listDocuments, listPassages } from '../store/knowledge/documents.ts'
import { CacheBudget } from '../store/knowledge/reader/cache.ts'
import { NotYet } from '../store/knowledge/reader/filters.ts'
import type { IndexRead } from '../store/knowledge/reader/index-read.ts'
import { KnowledgeIndex } from '../store/knowledge/reader/knowledge-index.ts'
import { findSite, listSiteIds } from '../store/knowledge/sites.ts'
import { done, together, type Work } from '../store/knowledge/work.ts'
import { detectLanguage } from '../text/analyse.ts'
import { extractAnswer } from './answer/extract-answer.ts'
import { statisticsOf } from './answer/question-terms.ts'
import { type Candidates, candidatesAfter, quotedOf, SIBLINGS, suggestQuestions } from './answer/suggest-questions.ts'
import { retrieve } from './query/retrieve.ts'
import { searched } from './query/searched-text.ts'
import { VectorSearch } from './query/vectors/search.ts'

/** Bases that stay open. Opening one costs about a millisecond. */
const OPEN_BASES = 64
/** Hits per suggestion, which is judged by the best of them. */
const HITS_OF_A_SUGGESTION = 5
/** Suggestions need many searches, each up to about 0.2 s if the base is large. After this time, other questions have their turn. */
const SUGGEST_TURN_MS = 20
/** Suggestions that are searched at the same time, if each search costs round trips. */
const ASKED_AT_ONCE = 6
/** Time limit for suggestions. The caller waits for one second. */
const SUGGEST_WITHIN_MS = 2_000

/** Returns the parts of the messages that are searched. */
const searchedOf = (history: readonly HistoryEntry[]): HistoryEntry[] =>
  history.map((entry) => ({ ...entry, content: searched(entry.role === 'AI' ? withoutOwnWords(entry.content) : entry.content) }))

/** The key that asks, for the turns of `serveInTurn`. */
interface AskedBy {
  askedBy?: string | undefined
}

/** State of suggestions between their turns. */
interface Suggesting {
  startedAt: number
  candidates: Candidates | undefined
  /** By question that was tried. */
  found: Map<string, Retrieval>
}

/** Returns passages of the document of a hit: the next ones, then the first ones. */
function* siblingsOf(hit: Hit | undefined): Work<Omit<Hit, 'score' | 'scores'>[]> {
  if (hit === undefined) return []
  const { documentId, title, url } = hit
  const pages = yield* together(
    listPassages(documentId, { limit: SIBLINGS, cursor: hit.passageId }),
    listPassages(documentId, { limit: SIBLINGS }),
  )
  return pages
    .flatMap((page) => page?.items ?? [])
    .map(({ id, heading, text, page }) => ({ documentId, passageId: id, title, heading, text, page, url }))
}

/** An agent's index, and the search of its vectors. */
interface OpenIndex {
  index: KnowledgeIndex
  vectors: VectorSearch
}

/** Opens the base of an agent, if it has one. */
export interface QuestionStore {
  openToRead(agentId: string): ReadableBase | undefined
}

/**
 * Reads the knowledge of all agents, in a separate thread with separate connections. Methods that take a filter may throw `NotYet`.
 * With PostgreSQL, all methods about a base return promises (see `ReadableBase.perform`).
 */
export class Questions {
  readonly #store: QuestionStore
  readonly #indexes = new Map<string, OpenIndex>()
  readonly #budget = new CacheBudget()
  /** By agent: questions that threw `NotYet` and are not answered yet. */
  readonly #underWay = new Map<string, Set<object>>()
  /** Suggestions that take several turns. */
  readonly #suggesting = new WeakMap<object, Suggesting>()

  constructor(store: QuestionStore) {
    this.#store = store
  }

  findDocument(agentId: string, id: string, _by?: AskedBy): Document | undefined {
    return this.#in(agentId, undefined, () => findDocument(id))
  }

  listDocuments(agentId: string, page: PageInput & { status?: DocumentStatus }): Page<ListedDocument> | undefined {
    const nothing = page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    return this.#in<Page<ListedDocument> | undefined>(agentId, nothing, () => listDocuments(page))
  }

  listPassages(agentId: string, id: string, page: PageInput): Page<Passage> | undefined {
    return this.#in(agentId, undefined, () => listPassages(id, page))
  }

  findSite(agentId: string, id: string, _by?: AskedBy): Site | undefined {
    return this.#in(agentId, undefined, () => findSite(id))
  }

  listSiteIds(agentId: string, page: PageInput): Page<string> | undefined {
    const nothing = page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    return this.#in<Page<string> | undefined>(agentId, nothing, () => listSiteIds(page))
  }

  count(agentId: string, _by?: AskedBy): { documents: number; passages: number } {
    return this.#in(agentId, { documents: 0, passages: 0 }, function* (read) {
      const [documents, passages] = yield* together(countDocuments(), read.remember('passages', countPassages))
      return { documents, passages }
    })
  }

  hasBase(agentId: string, _by?: AskedBy): boolean {
    return this.#in(agentId, false, () => done(true))
  }

  retrieve(agentId: string, given: RetrieveInput): Retrieval {
    const input = { ...given, query: searched(given.query), history: searchedOf(given.history) }
    return this.#in(agentId, nothingFound, (read, vectors) => this.#retrieve(read, vectors, input), given)
  }

  *#retrieve(read: IndexRead, vectors: VectorSearch, input: RetrieveInput): Work<Retrieval> {
    yield* read.loadFilter(input.filter)
    const retrieval = yield* retrieve(read, input, vectors)
    if (input.vector !== undefined) retrieval.vectorModel = yield* vectors.model(read.at)
    retrieval.language = detectLanguage(input.query, read.languages)
    if (input.extract === true)
      retrieval.extract = yield* extract(read, { question: input.query, history: input.history, retrieval })
    return retrieval
  }

  /** Returns the model whose vectors are searched in the agent's base; undefined if there are none. */
  vectorModel(agentId: string, _by?: AskedBy): string | undefined {
    return this.#in(agentId, undefined, (read, vectors) => vectors.model(read.at))
  }

  extract(agentId: string, given: ExtractInput): Extract {
    const input = { ...given, question: searched(given.question), history: searchedOf(given.history) }
    return this.#in(agentId, noExtract, (read) => extract(read, input), given)
  }

  suggest(agentId: string, given: SuggestInput): Suggestion[] {
    const input = { ...given, asked: given.asked.map(searched) }
    const startedAt = performance.now()
    const begun = this.#suggesting.get(given) ?? {
      startedAt,
      candidates: undefined,
      found: new Map<string, Retrieval>(),
    }
    this.#suggesting.set(given, begun)
    if (startedAt > begun.startedAt + SUGGEST_WITHIN_MS) {
      this.#end(agentId, given)
      return []
    }
    return this.#in(agentId, [], (read) => suggest(read, input, begun, startedAt), given)
  }

  /** Closes the agent's base, for example before it is deleted. */
  forget(agentId: string): void {
    const open = this.#indexes.get(agentId)
    if (open === undefined) return
    open.vectors.close()
    open.index.close()
    this.#indexes.delete(agentId)
  }

  close(): void {
    for (const agentId of [...this.#indexes.keys()]) this.forget(agentId)
  }

  /** `question`: see `KnowledgeIndex.read`. */
  #in<T>(agentId: string, nothing: T, work: (read: IndexRead, vectors: VectorSearch) => Work<T>, question?: object): T {
    const open = this.#open(agentId)
    if (open === undefined) {
      this.#end(agentId, question)
      return nothing
    }
    const succeed = (result: T): T => {
      this.#end(agentId, question)
      return result
    }
    const fail = (error: unknown): T => {
      if (error instanceof NotYet && question !== undefined)
        this.#underWay.set(agentId, (this.#underWay.get(agentId) ?? new Set()).add(question))
      else this.#end(agentId, question)
      if (!(error instanceof BaseGone)) throw error
      this.forget(agentId)
      return nothing
    }
    try {
      const result = open.index.read((read) => work(read, open.vectors), question)
      return result instanceof Promise ? (result.then(succeed, fail) as T) : succeed(result)
    } catch (error) {
      return fail(error)
    }
  }

  #end(agentId: string, question: object | undefined): void {
    const questions = this.#underWay.get(agentId)
    if (questions === undefined || question === undefined) return
    questions.delete(question)
    if (questions.size === 0) this.#underWay.delete(agentId)
  }

  #open(agentId: string): OpenIndex | undefined {
    let open = this.#indexes.get(agentId)
    if (open?.index.isOutdated === true) {
      open.vectors.close()
      open.index.forget()
      // The base stays open, because a question in progress uses it.
      open = this.#newIndex(open.index.base)
      this.#indexes.delete(agentId)
    } else if (open === undefined) {
      const base = this.#store.openToRead(agentId)
      if (base === undefined) return undefined
      open = this.#newIndex(base)
      // Closing an index discards all that it has read for a question that takes several turns.
      const isIdle = (id: string) => !this.#underWay.has(id) || this.#indexes.size >= 2 * OPEN_BASES
      const oldest = this.#indexes.size < OPEN_BASES ? undefined : this.#indexes.keys().find(isIdle)
      if (oldest !== undefined) this.forget(oldest)
    } else this.#indexes.delete(agentId)
    // The least recently used index is closed first.
    this.#indexes.set(agentId, open)
    return open
  }

  #newIndex(base: ReadableBase): OpenIndex {
    return { index: new KnowledgeIndex(base, this.#budget), vectors: new VectorSearch(this.#budget) }
  }
}

function extract(read: IndexRead, input: ExtractInput): Work<Extract> {
  return extractAnswer(input.retrieval.standsAlone ? { ...input, history: [] } : input, statisticsOf(read))
}

function* suggest(read: IndexRead, input: SuggestInput, begun: Suggesting, startedAt: number): Work<Suggestion[]> {
  yield* read.loadFilter(input.filter)
  let searches = 0
  function* ask(queries: readonly string[]): Work<readonly Retrieval[]> {
    const unknown = queries.filter((query) => !begun.found.has(query))
    if (unknown.length > 0 && searches++ > 0 && performance.now() > startedAt + SUGGEST_TURN_MS) throw new NotYet()
    const found = yield* together(
      ...unknown.map((query) => retrieve(read, { query, history: [], topK: HITS_OF_A_SUGGESTION, filter: input.filter })),
    )
    for (const [i, query] of unknown.entries()) begun.found.set(query, found[i]!)
    return queries.map((query) => begun.found.get(query)!)
  }
  begun.candidates ??= candidatesAfter(input, yield* siblingsOf(quotedOf(input.retrieval)))
  const base = { ask, statistics: statisticsOf(read), atOnce: read.isRemote ? ASKED_AT_ONCE : 1 }
  return yield* suggestQuestions(input, base, begun.candidates)
}
