import type { Agent } from '../core/agent.ts'
import type { Retrieval } from '../core/ports/retrieval.ts'
import type { Trace } from './trace.ts'

/** Returns the retrieval part of a trace: the query, the method and the passages. It is known before the reply. */
export function traceRetrieval(agent: Agent, retrieval: Retrieval): Pick<Trace, 'query' | 'retrieval' | 'passages'> {
  const asksForMore = agent.retrieval.mode === 'hybrid' || agent.retrieval.rerank
  return {
    query: retrieval.query,
    ...(asksForMore ? { retrieval: toHow(retrieval) } : {}),
    passages: retrieval.hits.map(({ documentId, passageId, title, score, scores }) => ({
      documentId,
      passageId,
      title,
      score,
      scores,
    })),
  }
}

const toHow = ({ mode = 'lexical', withoutVectors, isReranked }: Retrieval) => ({
  mode,
  ...(isReranked === undefined ? {} : { reranked: isReranked }),
  ...(withoutVectors === undefined ? {} : { reason: withoutVectors }),
})
