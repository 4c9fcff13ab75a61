import type { Payer } from '../access/budgets.ts'
import type { Agent } from '../core/agent.ts'
import type { Extra, HistoryEntry, ReplyFormat } from '../core/message.ts'
import { phrasesIn } from '../core/phrases.ts'
import { EXTRACTIVE, type ModelRequest } from '../core/ports/model.ts'
import type { Hit, Retrieval } from '../core/ports/retrieval.ts'
import { cleanText } from '../core/text.ts'
import { costOf } from '../models/prices.ts'
import { renderHtml } from '../render/render.ts'
import { hasLanguageModel } from '../retrieval/auxiliary-call.ts'
import { type FoundPassages, retrieveInConversation } from '../retrieval/rewrite.ts'
import { type CiteOptions, Citer, uncited } from './cite.ts'
import type { ReplyDeps } from './deps.ts'
import { type Generated, generate } from './generate.ts'
import type { Past } from './history.ts'
import { passagesFor } from './passages.ts'
import { buildPrompt } from './prompt.ts'
import type { ReplyTarget } from './reply-target.ts'
import { traceRetrieval } from './retrieval-trace.ts'
import { smallTalk } from './small-talk.ts'
import type { ReplyDetail, Trace, Usage } from './trace.ts'

export interface ReplyInput extends Payer {
  message: string
  additionalContext?: string | undefined
  format: ReplyFormat
  include: Extra[]
  past: Past
}

/** A complete reply that is not yet stored. */
export interface Draft {
  /** The text in the requested format. */
  content: string
  /** The reply in Markdown, with checked citations, if `content` is HTML. */
  markdown: string | null
  model: string
  usage: Usage | null
  retrieval: Retrieval
  trace: Trace
  detail: ReplyDetail
}

/** Makes the agent's reply to a message: retrieves, generates, checks citations and renders. */
export async function makeReply(deps: ReplyDeps, input: ReplyInput, target: ReplyTarget): Promise<Draft> {
  const { stopwatch } = target
  const { agent, message, past } = input
  const talk = agent.model === EXTRACTIVE ? smallTalk(message, agent) : undefined
  const found: FoundPassages =
    talk === undefined
      ? await retrieveInConversation(deps, input, message, past.messages, target.signal)
      : { retrieval: notSearched }
  const { retrieval } = found
  const shown = isPrompted(agent) ? passagesFor(retrieval, deps.limits.passageTokens) : []
  stopwatch.lap('retrieve')
  // Without documents there is nothing to cite, and a [1] has the model's own meaning. A model that quotes has seen all passages.
  const citerOf = (quotes?: CiteOptions['quotes']) =>
    retrieval.emptyBase ? undefined : new Citer(quotes === undefined ? shown : retrieval.hits, { quotes, question: message })
  let citer = citerOf()
  target.settle = (text) => citer?.settle(text) ?? text
  const reply = talk === undefined ? await answer(deps, input, found, shown, target) : saidByItself(talk)
  if (reply.quotes !== undefined) citer = citerOf(reply.quotes)
  if (target.length === 0) target.append(reply.text) // for models that do not stream
  stopwatch.lap('generate')
  const text = cleanText(reply.text)
  // Long replies are checked in turns of keys, and of the agents of a key.
  const owner = `${input.key?.id ?? ''}/${agent.id}`
  const { markdown, sources, citations } = (await citer?.cite(text, owner)) ?? uncited(text)
  const grounding = reply.grounding ?? {
    answered: retrieval.emptyBase === true || sources.length > 0,
    confidence: retrieval.confidence,
  }
  const isHtml = input.format === 'html'
  const content = isHtml ? await renderHtml(markdown, agent.imageHosts, owner) : markdown
  const usage = reply.usage && { ...reply.usage, cost: costOf(deps.prices, reply.model, reply.usage) }
  stopwatch.lap('render')
  const trace: Trace = {
    grounding,
    ...traceRetrieval(agent, retrieval),
    citations,
    attempts: reply.attempts,
    finish: reply.finish,
    timings: stopwatch.laps,
  }
  const { include } = input
  const detail: ReplyDetail = {
    run: target.run,
    ...(sources.length === 0 && usage === null ? {} : { sources, usage }),
    ...(include.length === 0 ? {} : { include }),
    ...(deps.limits.keepTraces || include.includes('trace') ? { trace } : {}),
  }
  return { content, markdown: isHtml ? markdown : null, model: reply.model, usage, retrieval, trace, detail }
}

/** Returns true if a model that reads a prompt may be called. */
const isPrompted = (agent: Agent): boolean => hasLanguageModel(agent) || agent.fallbackModels.length > 0

/** Generates the answer. Below the agent's minimum confidence, no model is called. */
function answer(
  deps: ReplyDeps,
  input: ReplyInput,
  { retrieval, rewritten }: FoundPassages,
  hits: Hit[],
  target: ReplyTarget,
): Promise<Generated> {
  const { agent, message, additionalContext, past } = input
  const { minScore } = agent.retrieval
  const history: HistoryEntry[] = past.messages
  if (minScore !== null && retrieval.confidence < minScore && hasLanguageModel(agent)) {
    return Promise.resolve(notAsked(agent, retrieval))
  }
  const hasKnowledge = retrieval.emptyBase !== true
  const prompt = isPrompted(agent)
    ? buildPrompt(
        { agent, summary: past.summary, history, message, additionalContext, hits, hasKnowledge },
        deps.limits.historyTokens,
      )
    : []
  const request: ModelRequest = {
    prompt,
    temperature: agent.temperature,
    maxOutputTokens: agent.maxOutputTokens,
    grounding: { agentId: agent.id, question: rewritten ?? message, history, retrieval, minScore },
  }
  return generate(deps, input, request, target)
}

/** The retrieval result for small talk. */
const notSearched: Retrieval = { query: '', standsAlone: true, hits: [], confidence: 0 }

const saidByItself = (text: string): Generated => ({
  text,
  model: EXTRACTIVE,
  usage: null,
  finish: 'stop',
  grounding: { answered: true, confidence: 1 },
  attempts: [],
})

const notAsked = ({ model }: Agent, { confidence, language = 'en' }: Retrieval): Generated => ({
  text: phrasesIn(language).dontKnow,
  model,
  usage: null,
  finish: 'stop',
  grounding: { answered: false, confidence },
  attempts: [],
})
