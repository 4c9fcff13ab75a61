import type { Reranker } from '../core/ports/reranker.ts'
import { notUnderstood } from './transport/failure.ts'
import { isListOfObjects, readJson, send } from './transport/http.ts'

/** Limits of an answer per document. Some servers send the documents back. */
const MOST_VALUES = 16
const MAX_TIMES_SENT = 3
/** Limits for the rest of an answer. */
const OTHER_VALUES = 200
const OTHER_BYTES = 65_536

export interface RerankerSettings {
  /** The complete URL, e.g. `https://api.cohere.com/v2/rerank`. */
  url: string
  model: string | undefined
  apiKey: string | undefined
}

/** Opens a reranker with the protocol of Cohere, Jina, Voyage and most self-hosted servers: the scores are in `results` or `data`. */
export function openReranker({ url, model, apiKey }: RerankerSettings): Reranker {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return {
    async score(query, documents, { signal, ...owner }) {
      const body = JSON.stringify({ ...(model === undefined ? {} : { model }), query, documents })
      const limits = {
        mostValues: OTHER_VALUES + MOST_VALUES * documents.length,
        maxBytes: OTHER_BYTES + MAX_TIMES_SENT * Buffer.byteLength(body),
      }
      const answer = await readJson(await send(new URL(url), { headers, body, signal, owner }), signal, limits)
      const { results, data } = (answer ?? {}) as { results?: unknown; data?: unknown }
      const list = (results ?? data ?? answer) as { index?: unknown; relevance_score?: unknown; score?: unknown }[]
      if (!isListOfObjects(list)) throw notUnderstood()
      const scores = new Map<number, number>()
      for (const { index, relevance_score, score } of list) {
        const value = relevance_score ?? score
        if (!Number.isInteger(index) || typeof value !== 'number' || !Number.isFinite(value)) throw notUnderstood()
        scores.set(index as number, value)
      }
      // Documents without a score rank last.
      return documents.map((_, i) => scores.get(i) ?? Number.NEGATIVE_INFINITY)
    },
  }
}
