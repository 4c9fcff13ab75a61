import { ReparteeError } from '../core/errors.ts'
import { Cache } from '../core/platform/cache.ts'
import type { EmbeddingModel } from '../core/ports/embedding.ts'
import type { Meters, Outcome } from '../core/ports/meters.ts'
import {
  type ChatModel,
  EXTRACTIVE,
  MOST_MODELS,
  type ModelCall,
  type ModelReply,
  type ModelRequest,
  type Models,
} from '../core/ports/model.ts'
import type { Span, Tracer } from '../core/ports/tracer.ts'
import { countUsage } from '../core/tokens.ts'
import { chatEnd, chatSpan, embeddingSpan } from '../traces/gen-ai.ts'
import { costOf, type Prices } from './prices.ts'

export interface ModelWatch {
  meters: Meters
  tracer: Tracer
  prices: Prices
}

/** Returns the same models, with every call reported to meters and traces. */
export function watchModels(models: Models, watch: ModelWatch): Models {
  const chat = new Cache<ChatModel>(MOST_MODELS)
  const embedding = new Cache<EmbeddingModel>(MOST_MODELS)
  return {
    find: (name) => chat.getOrCreate(name, () => watchChat(watch, name, models.find(name))),
    findEmbedding: (name) => embedding.getOrCreate(name, () => watchEmbedding(watch, name, models.findEmbedding(name))),
    list: () => models.list(),
  }
}

function watchChat(watch: ModelWatch, name: string, model: ChatModel): ChatModel {
  const { tracer } = watch
  return {
    generate: (request, call) =>
      tracer.span(
        () => chatSpan(name, request, call.onText !== undefined, tracer.recordsText),
        (span) => metered(watch, name, model, request, call, span),
      ),
  }
}

async function metered(
  { meters, tracer, prices }: ModelWatch,
  name: string,
  model: ChatModel,
  request: ModelRequest,
  call: ModelCall,
  span: Span,
): Promise<ModelReply> {
  const startedAt = performance.now()
  let firstTextMs: number | undefined
  const tell = call.onText
  const onText = (text: string) => {
    if (text !== '') firstTextMs ??= performance.now() - startedAt
    tell!(text)
  }
  const told = { model: name, usage: null, cost: null }
  try {
    const reply = await model.generate(request, tell === undefined ? call : { ...call, onText })
    const usage = name === EXTRACTIVE ? null : countUsage(reply.usage, request, reply.text)
    const cost = usage && costOf(prices, name, usage)
    meters.modelCalled({ ...told, outcome: 'ok', ms: performance.now() - startedAt, firstTextMs, usage, cost })
    span.set(() => chatEnd(reply, usage, firstTextMs, tracer.recordsText))
    return reply
  } catch (error) {
    meters.modelCalled({ ...told, outcome: outcomeOf(error, call.signal), ms: performance.now() - startedAt, firstTextMs })
    throw error
  }
}

function watchEmbedding({ meters, tracer }: ModelWatch, name: string, model: EmbeddingModel): EmbeddingModel {
  return {
    get maxTexts() {
      return model.maxTexts
    },
    async embed(texts, call) {
      const startedAt = performance.now()
      let outcome: Outcome = 'ok'
      try {
        return await tracer.span(
          () => embeddingSpan(name),
          () => model.embed(texts, call),
        )
      } catch (error) {
        outcome = outcomeOf(error, call.signal)
        throw error
      } finally {
        meters.embedded(name, outcome, performance.now() - startedAt)
      }
    },
  }
}

/** Returns the outcome of a call that threw. */
export const outcomeOf = (error: unknown, signal: AbortSignal): Outcome =>
  error instanceof ReparteeError && !signal.aborted ? error.code : endOf(signal)

function endOf({ aborted, reason }: AbortSignal): Outcome {
  if (!aborted) return 'internal_error'
  return (reason as Error | undefined)?.name === 'TimeoutError' ? 'model_timeout' : 'stopped'
}
