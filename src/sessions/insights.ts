import { pacer } from '../core/fairness/pacer.ts'
import type { DocumentInsight, InsightDay, Insights, Ratings } from '../core/insights.ts'
import { toIso } from '../core/time.ts'
import type { ReplyDetail } from '../reply/trace.ts'
import { listReplies, type ReplyRow, type TimeSpan } from '../store/tables/insights.ts'
import type { Slicing } from '../store/tables/sessions.ts'
import type { Feedback } from '../turns/read-message.ts'
import type { SessionDeps } from './deps.ts'
import { UnansweredQuestions } from './unanswered.ts'

const MAX_UNANSWERED = 100
/** The most cited documents in a result. */
const MAX_CITED = 1_000
/** Documents counted at a time. Beyond that, the least cited half is dropped, so that the size of a result does not grow with all replies. */
const MAX_COUNTED = 10_000
/** The most never-cited documents in a result. */
const MAX_NEVER_CITED = 500
const DOCUMENTS_A_PAGE = 100

/** Computes insights from the messages themselves, so that no data outlives a deletion. Resolves to undefined as soon as `isWanted` returns false. */
export async function findInsights(
  deps: SessionDeps,
  agentId: string,
  span: TimeSpan,
  { owner, isWanted }: Required<Slicing>,
): Promise<Insights | undefined> {
  const days = new Map<string, Day>()
  const ratings: Ratings = { up: 0, down: 0 }
  const unanswered = new UnansweredQuestions()
  const documents = new CitedDocuments()
  const pause = pacer(owner)
  for await (const replies of listReplies(deps.db, agentId, span, owner)) {
    await pause()
    if (!isWanted()) return undefined
    for (const reply of replies.toSorted((a, b) => b.askedAt - a.askedAt)) {
      await pause()
      if (!isWanted()) return undefined
      const detail = reply.detail === null ? {} : (JSON.parse(reply.detail) as ReplyDetail)
      const rating = reply.feedback === null ? undefined : (JSON.parse(reply.feedback) as Feedback).rating
      const date = toIso(reply.repliedAt).slice(0, 10)
      const day = days.get(date) ?? new Day()
      days.set(date, day)
      day.add(reply, detail)
      if (rating !== undefined) ratings[rating]++
      if (reply.answered === false) unanswered.add(reply.question, reply.askedAt, reply.sessionId)
      for (const { documentId, title } of new Map((detail.sources ?? []).map((source) => [source.documentId, source])).values())
        documents.add(documentId, title, rating)
    }
  }
  return {
    days: [...days].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([date, day]) => day.toInsight(date)),
    ratings,
    unanswered: unanswered.list(MAX_UNANSWERED),
    documents: await withNeverCited(deps, agentId, documents),
  }
}

/** Counts citations per document. Exact up to `maxCounted` documents; after that, counts of rarely cited ones may be too low. */
export class CitedDocuments {
  readonly #maxCounted: number
  #documents = new Map<string, DocumentInsight>()
  /** False after documents were dropped: one that is not in the map may have been cited. */
  isComplete = true

  constructor(maxCounted = MAX_COUNTED) {
    this.#maxCounted = maxCounted
  }

  add(documentId: string, title: string, rating: 'up' | 'down' | undefined): void {
    const document = this.#documents.get(documentId) ?? { documentId, title, cited: 0, up: 0, down: 0 }
    this.#documents.set(documentId, document)
    document.cited++
    if (rating !== undefined) document[rating]++
    if (this.#documents.size <= this.#maxCounted) return
    this.#documents = new Map(this.list(this.#maxCounted / 2).map((one) => [one.documentId, one]))
    this.isComplete = false
  }

  has(documentId: string): boolean {
    return this.#documents.has(documentId)
  }

  /** Returns the documents with the most citations, in that order. */
  list(most: number): DocumentInsight[] {
    return [...this.#documents.values()].toSorted((a, b) => b.cited - a.cited).slice(0, most)
  }
}

class Day {
  readonly #sessions = new Set<string>()
  readonly #users = new Set<string>()
  readonly #took: number[] = []
  #turns = 0
  #tokensIn = 0
  #tokensOut = 0
  #cost = 0

  add({ sessionId, userId, tookMs }: ReplyRow, { usage }: ReplyDetail): void {
    this.#turns++
    this.#sessions.add(sessionId)
    this.#users.add(userId)
    if (tookMs !== null) this.#took.push(tookMs)
    this.#tokensIn += usage?.tokensIn ?? 0
    this.#tokensOut += usage?.tokensOut ?? 0
    this.#cost += usage?.cost ?? 0
  }

  toInsight(date: string): InsightDay {
    const took = this.#took.toSorted((a, b) => a - b)
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!
    return {
      date,
      turns: this.#turns,
      sessions: this.#sessions.size,
      users: this.#users.size,
      tokensIn: this.#tokensIn,
      tokensOut: this.#tokensOut,
      cost: this.#cost,
      latencyMs: took.length === 0 ? null : { p50: at(0.5), p95: at(0.95) },
    }
  }
}

/** Adds documents that were never cited. Deleted documents keep the title under which they were cited. */
async function withNeverCited(deps: SessionDeps, agentId: string, cited: CitedDocuments): Promise<DocumentInsight[]> {
  if (!cited.isComplete) return cited.list(MAX_CITED)
  const never: DocumentInsight[] = []
  let cursor: string | undefined
  do {
    const page = await deps.knowledge.listDocuments(agentId, {
      limit: DOCUMENTS_A_PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    })
    for (const { id, title } of page?.items ?? [])
      if (!cited.has(id)) never.push({ documentId: id, title, cited: 0, up: 0, down: 0 })
    cursor = page?.hasMore ? page.items.at(-1)?.id : undefined
  } while (cursor !== undefined && never.length < MAX_NEVER_CITED)
  return [...cited.list(MAX_CITED), ...never.slice(0, MAX_NEVER_CITED)]
}
