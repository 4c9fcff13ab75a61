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
import { BaseGone, type KnowledgeStore } from '../store/knowledge/base.ts'
import { CacheBudget } from '../store/knowledge/cache.ts'
import { countDocuments, countPassages, findDocument, listDocuments, listPassages } from '../store/knowledge/documents.ts'
import { NotYet } from '../store/knowledge/filters.ts'
import { KnowledgeIndex } from '../store/knowledge/reader.ts'
import { findSite, listSiteIds } from '../store/knowledge/sites.ts'
import { detectLanguage } from '../text/analyse.ts'
import { extractAnswer } from './answer/extract-answer.ts'
import type { TermStatistics } from './answer/question-terms.ts'
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

const statisticsOf = (index: KnowledgeIndex): TermStatistics => ({
  passages: index.slots,
  frequency: (stem) => index.frequency(`s${stem}`),
})

/** Returns passages of the document of a hit: the next ones, then the first ones. */
function siblingsOf(index: KnowledgeIndex, hit: Hit | undefined): Omit<Hit, 'score' | 'scores'>[] {
  if (hit === undefined) return []
  const { documentId, title, url } = hit
  const pages = [hit.passageId, undefined].map((cursor) =>
    listPassages(index.base, documentId, { limit: SIBLINGS, ...(cursor === undefined ? {} : { cursor }) }),
  )
  return pages
    .flatMap((page) => page?.items ?? [])
    .map(({ id, heading, text, page }) => ({ documentId, passageId: id, title, heading, text, page, url }))
}

/** Reads the knowledge of all agents, in a separate thread with separate connections. Methods that take a filter may throw `NotYet`. */
export class Questions {
  readonly #store: Pick<KnowledgeStore, 'openToRead'>
  readonly #indexes = new Map<string, KnowledgeIndex>()
  readonly #budget = new CacheBudget()
  readonly #vectors = new WeakMap<KnowledgeIndex, VectorSearch>()

  /** By agent: questions that threw `NotYet` and are not answered yet. */
  readonly #underWay = new Map<string, Set<object>>()
  /** Suggestions that take several turns. */
  readonly #suggesting = new WeakMap<object, Suggesting>()

  constructor(store: Pick<KnowledgeStore, 'openToRead'>) {
    this.#store = store
  }

  findDocument(agentId: string, id: string, _by?: AskedBy): Document | undefined {
    return this.#in(agentId, undefined, (index) => findDocument(index.base, id))
  }

  listDocuments(agentId: string, page: PageInput & { status?: DocumentStatus }): Page<ListedDocument> | undefined {
    const nothing = page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    return this.#in<Page<ListedDocument> | undefined>(agentId, nothing, (index) => listDocuments(index.base, page))
  }

  listPassages(agentId: string, id: string, page: PageInput): Page<Passage> | undefined {
    return this.#in(agentId, undefined, (index) => listPassages(index.base, id, page))
  }

  findSite(agentId: string, id: string, _by?: AskedBy): Site | undefined {
    return this.#in(agentId, undefined, (index) => findSite(index.base, id))
  }

  listSiteIds(agentId: string, page: PageInput): Page<string> | undefined {
    const nothing = page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    return this.#in<Page<string> | undefined>(agentId, nothing, (index) => listSiteIds(index.base, page))
  }

  count(agentId: string, _by?: AskedBy): { documents: number; passages: number } {
    return this.#in(agentId, { documents: 0, passages: 0 }, (index) => ({
      documents: countDocuments(index.base),
      passages: index.remember('passages', () => countPassages(index.base)),
    }))
  }

  hasBase(agentId: string, _by?: AskedBy): boolean {
    return this.#in(agentId, false, () => true)
  }

  retrieve(agentId: string, given: RetrieveInput): Retrieval {
    const input = { ...given, query: searched(given.query), history: searchedOf(given.history) }
    return this.#in(
      agentId,
      nothingFound,
      (index) => {
        index.prepare(input.filter)
        const vectors = this.#vectorsOf(index)
        const retrieval = retrieve(index, input, vectors)
        if (input.vector !== undefined) retrieval.vectorModel = vectors.model(index.base, index.version)
        retrieval.language = detectLanguage(input.query, index.languages)
        if (input.extract === true)
          retrieval.extract = this.#extract(index, { question: input.query, history: input.history, retrieval })
        return retrieval
      },
      given,
    )
  }

  /** Returns the model whose vectors are searched in the agent's base; undefined if there are none. */
  vectorModel(agentId: string, _by?: AskedBy): string | undefined {
    return this.#in(agentId, undefined, (index) => this.#vectorsOf(index).model(index.base, index.version))
  }

  extract(agentId: string, given: ExtractInput): Extract {
    const input = { ...given, question: searched(given.question), history: searchedOf(given.history) }
    return this.#in(agentId, noExtract, (index) => this.#extract(index, input), given)
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
    return this.#in(
      agentId,
      [],
      (index) => {
        index.prepare(input.filter)
        let searches = 0
        const ask = (query: string) => {
          const known = begun.found.get(query)
          if (known !== undefined) return known
          if (searches++ > 0 && performance.now() > startedAt + SUGGEST_TURN_MS) throw new NotYet()
          const found = retrieve(index, { query, history: [], topK: HITS_OF_A_SUGGESTION, filter: input.filter })
          if (!index.base.isPartial) begun.found.set(query, found)
          return found
        }
        begun.candidates ??= candidatesAfter(input, siblingsOf(index, quotedOf(input.retrieval)))
        return suggestQuestions(input, ask, begun.candidates, statisticsOf(index))
      },
      given,
    )
  }

  /** Closes the agent's base, for example before it is deleted. */
  forget(agentId: string): void {
    const index = this.#indexes.get(agentId)
    if (index === undefined) return
    this.#vectors.get(index)?.close()
    index.close()
    this.#indexes.delete(agentId)
  }

  close(): void {
    for (const agentId of [...this.#indexes.keys()]) this.forget(agentId)
  }

  #extract(index: KnowledgeIndex, input: ExtractInput): Extract {
    return extractAnswer(input.retrieval.standsAlone ? { ...input, history: [] } : input, statisticsOf(index))
  }

  #vectorsOf(index: KnowledgeIndex): VectorSearch {
    const vectors = this.#vectors.get(index) ?? new VectorSearch(this.#budget)
    this.#vectors.set(index, vectors)
    return vectors
  }

  /** `question`: see `KnowledgeIndex.read`. */
  #in<T>(agentId: string, nothing: T, work: (index: KnowledgeIndex) => T, question?: object): T {
    const index = this.#open(agentId)
    if (index === undefined) {
      this.#end(agentId, question)
      return nothing
    }
    try {
      const result = index.read(() => work(index), question)
      this.#end(agentId, question)
      return result
    } catch (error) {
      if (error instanceof NotYet && question !== undefined)
        this.#underWay.set(agentId, (this.#underWay.get(agentId) ?? new Set()).add(question))
      else this.#end(agentId, question)
      if (!(error instanceof BaseGone)) throw error
      if (!index.base.isPartial) this.forget(agentId)
      return nothing
    }
  }

  #end(agentId: string, question: object | undefined): void {
    const questions = this.#underWay.get(agentId)
    if (questions === undefined || question === undefined) return
    questions.delete(question)
    if (questions.size === 0) this.#underWay.delete(agentId)
  }

  #open(agentId: string): KnowledgeIndex | undefined {
    let index = this.#indexes.get(agentId)
    if (index?.isOutdated === true) {
      this.#vectors.get(index)?.close()
      index.forget()
      // The base stays open, because a question in progress uses it.
      index = new KnowledgeIndex(index.base, this.#budget)
      this.#indexes.delete(agentId)
    } else if (index === undefined) {
      const base = this.#store.openToRead(agentId)
      if (base === undefined) return undefined
      index = new KnowledgeIndex(base, this.#budget)
      // Closing an index discards all that it has read for a question that takes several turns.
      const isIdle = (id: string) => !this.#underWay.has(id) || this.#indexes.size >= 2 * OPEN_BASES
      const oldest = this.#indexes.size < OPEN_BASES ? undefined : this.#indexes.keys().find(isIdle)
      if (oldest !== undefined) this.forget(oldest)
    } else this.#indexes.delete(agentId)
    // The least recently used index is closed first.
    this.#indexes.set(agentId, index)
    return index
  }
}
