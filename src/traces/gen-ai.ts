import type { Agent } from '../core/agent.ts'
import { EXTRACTIVE, type ModelReply, type ModelRequest, type ModelUsage, splitModelName } from '../core/ports/model.ts'
import type { Retrieval } from '../core/ports/retrieval.ts'
import type { Attributes, SpanStart } from '../core/ports/tracer.ts'

/** Span attributes by OpenTelemetry's conventions for generative AI (semantic conventions 1.41). Our own attributes begin with `repartee.`. */

/** Providers with another name in the conventions. */
const PROVIDERS: Record<string, string> = { google: 'gcp.gemini', [EXTRACTIVE]: 'repartee' }

function modelOf(name: string): Attributes {
  const [provider, model] = splitModelName(name)
  return { 'gen_ai.provider.name': PROVIDERS[provider] ?? provider, 'gen_ai.request.model': model === '' ? provider : model }
}

const toMessages = (role: string, content: string): string => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

const toUsage = (usage: ModelUsage | null): Attributes =>
  usage === null
    ? {}
    : {
        'gen_ai.usage.input_tokens': usage.tokensIn,
        'gen_ai.usage.output_tokens': usage.tokensOut,
        ...(usage.tokensCached > 0 ? { 'gen_ai.usage.cache_read.input_tokens': usage.tokensCached } : {}),
      }

export const agentSpan = (agent: Agent, sessionId: string): SpanStart => ({
  name: `invoke_agent ${agent.name}`,
  kind: 'internal',
  attributes: {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.id': agent.id,
    'gen_ai.agent.name': agent.name,
    'gen_ai.conversation.id': sessionId,
    'gen_ai.data_source.id': agent.id,
    ...modelOf(agent.model),
  },
})

interface AnsweredTurn {
  userMessage: { content: string }
  aiMessage: { content: string; model: string }
  sources: unknown[]
  usage: ModelUsage | null
  trace: { finish: string; grounding: { answered: boolean; confidence: number } } | undefined
}

export const agentEnd = ({ aiMessage, userMessage, sources, usage, trace }: AnsweredTurn, recordsText: boolean): Attributes => ({
  'gen_ai.response.model': modelOf(aiMessage.model)['gen_ai.request.model'],
  ...toUsage(usage),
  ...(trace === undefined
    ? {}
    : {
        'gen_ai.response.finish_reasons': [trace.finish],
        'repartee.answered': trace.grounding.answered,
        'repartee.confidence': trace.grounding.confidence,
      }),
  'repartee.sources': sources.length,
  ...(recordsText
    ? {
        'gen_ai.input.messages': toMessages('user', userMessage.content),
        'gen_ai.output.messages': toMessages('assistant', aiMessage.content),
      }
    : {}),
})

export const retrievalSpan = (
  agent: Agent,
  { query, topK }: { query: string; topK?: number },
  recordsText: boolean,
): SpanStart => ({
  name: `retrieval ${agent.id}`,
  kind: 'client',
  attributes: {
    'gen_ai.operation.name': 'retrieval',
    'gen_ai.provider.name': 'repartee',
    'gen_ai.data_source.id': agent.id,
    'gen_ai.request.top_k': topK ?? agent.retrieval.topK,
    ...(recordsText ? { 'gen_ai.retrieval.query.text': query } : {}),
  },
})

export const retrievalEnd = ({ hits, confidence, mode }: Retrieval): Attributes => ({
  'repartee.passages': hits.length,
  'repartee.confidence': confidence,
  'repartee.retrieval.mode': mode ?? 'lexical',
})

export const chatSpan = (name: string, request: ModelRequest, streams: boolean, recordsText: boolean): SpanStart => {
  const model = modelOf(name)
  return {
    name: `chat ${model['gen_ai.request.model']}`,
    kind: name === EXTRACTIVE ? 'internal' : 'client',
    attributes: {
      'gen_ai.operation.name': 'chat',
      ...model,
      ...(streams ? { 'gen_ai.request.stream': true } : {}),
      'gen_ai.request.temperature': request.temperature ?? undefined,
      'gen_ai.request.max_tokens': request.maxOutputTokens ?? undefined,
      ...(recordsText
        ? {
            'gen_ai.input.messages': JSON.stringify(
              request.prompt.map(({ role, content }) => ({ role, parts: [{ type: 'text', content }] })),
            ),
          }
        : {}),
    },
  }
}

export const chatEnd = (
  reply: ModelReply,
  usage: ModelUsage | null,
  firstTextMs: number | undefined,
  recordsText: boolean,
): Attributes => ({
  'gen_ai.response.model': reply.model,
  'gen_ai.response.finish_reasons': [reply.finish],
  ...(firstTextMs === undefined ? {} : { 'gen_ai.response.time_to_first_chunk': firstTextMs / 1_000 }),
  ...toUsage(usage),
  ...(recordsText ? { 'gen_ai.output.messages': toMessages('assistant', reply.text) } : {}),
})

export const embeddingSpan = (name: string): SpanStart => {
  const model = modelOf(name)
  const attributes = { 'gen_ai.operation.name': 'embeddings', ...model }
  return { name: `embeddings ${model['gen_ai.request.model']}`, kind: 'client', attributes }
}
