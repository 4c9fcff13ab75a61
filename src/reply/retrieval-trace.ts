import type { Agent } from '../core/agent.ts'
import type { Retrieval } from '../core/ports/retrieval.ts'
import type { Trace } from './trace.ts'

/** What was searched, how, and what was found: the part of a trace that is known before there is a reply. */
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
