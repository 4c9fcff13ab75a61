import { ReparteeError } from '../core/errors.ts'
import { Cache } from '../core/platform/cache.ts'
import type { EmbeddingCall, EmbeddingModel } from '../core/ports/embedding.ts'
import {
  type ChatModel,
  EXTRACTIVE,
  MOST_MODELS,
  type ModelCall,
  type ModelReply,
  type ModelRequest,
  type Models,
  NoText,
} from '../core/ports/model.ts'
import type { Clock } from '../core/ports/ports.ts'
import type { Reranker } from '../core/ports/reranker.ts'
import { type BreakerLimits, Breakers } from './breaker.ts'
import { type CallOwner, CallSlots } from './call-slots.ts'
import { Refusal, sendsTooMuch, stopped } from './transport/failure.ts'
import { heldBytes } from './transport/held-bytes.ts'

export interface GuardLimits extends BreakerLimits {
  /** Maximum silence of a model: before the first token and between tokens. A reply without streaming is silent until it is complete. */
  modelTimeoutMs: number
  maxReplyChars: number
  modelConcurrency: number
  breaker: boolean
}

interface Pool {
  slots: CallSlots
  breakers: Breakers | undefined
  clock: Clock
}

const newPool = (limits: GuardLimits, clock: Clock): Pool => ({
  slots: new CallSlots(limits.modelConcurrency),
  breakers: limits.breaker ? new Breakers(limits, clock) : undefined,
  clock,
})

/** The turn, the reader of the provider's protocol and the budgets each store the growing text, two bytes per character. */
const BYTES_A_CHAR = 6

/** A call that is abandoned sooner says nothing about the provider. */
const SILENCE_MS = 1_000

/** Limits each call of a provider: a slot, a breaker per agent and model, maximum silence, reply length, and memory for growing replies. */
export function guardModels(models: Models, limits: GuardLimits, clock: Clock): Models {
  const pool = newPool(limits, clock)
  const chat = new Cache<ChatModel>(MOST_MODELS)
  const embeddings = new Cache<EmbeddingModel>(MOST_MODELS)
  const guardChat = (name: string, model: ChatModel): ChatModel => ({
    generate: (request, call) =>
      guarded({ ...pool, model: name }, { agentId: request.grounding.agentId, keyId: call.keyId }, call.signal, () =>
        watched(model, limits, request, call),
      ),
  })
  // A chat model on another server may have the same name.
  const guardEmbedding = (name: string, model: EmbeddingModel): EmbeddingModel => ({
    get maxTexts() {
      return model.maxTexts
    },
    embed: (texts, call) =>
      guarded({ ...pool, model: `${name} embeddings` }, call, call.signal, () =>
        inTime(limits.modelTimeoutMs, call, (own) => model.embed(texts, own)),
      ),
  })
  return {
    find: (name) => (name === EXTRACTIVE ? models.find(name) : chat.getOrCreate(name, () => guardChat(name, models.find(name)))),
    findEmbedding: (name) => embeddings.getOrCreate(name, () => guardEmbedding(name, models.findEmbedding(name))),
    list: () => models.list(),
  }
}

/** Limits the calls of a reranker with separate slots and breakers. The caller sets the timeout. */
export function guardReranker(reranker: Reranker, limits: GuardLimits, clock: Clock): Reranker {
  const pool = newPool(limits, clock)
  return {
    score: (query, documents, call) =>
      guarded({ ...pool, model: 'reranker' }, call, call.signal, () => reranker.score(query, documents, call)),
  }
}

interface Guards extends Pool {
  /** The name of its breaker. */
  model: string
}

/** Makes the call after it gets a slot and its breaker lets it through. */
async function guarded<T>(
  { slots, breakers, clock, model }: Guards,
  owner: CallOwner,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  const breaker = breakers?.of(owner.agentId, model)
  breaker?.check()
  await slots.take(owner, signal)
  let isMade = false
  try {
    // It may have been stopped at the moment when it got its slot.
    if (signal.aborted) throw stopped(signal)
    const pass = breaker?.enter()
    isMade = true
    const begunAt = clock()
    try {
      const reply = await call()
      pass?.worked()
      return reply
    } catch (error) {
      const speaks = signal.aborted ? isSilence(signal, clock() - begunAt) : speaksOfProvider(error)
      if (speaks) pass?.failed()
      else pass?.dropped()
      throw error
    }
  } finally {
    // When a breaker opens, thousands of calls may be waiting. Other requests run between two refused calls.
    if (isMade) slots.give(owner)
    else setImmediate(() => slots.give(owner))
  }
}

/** Throws `model_timeout` after `ms` of silence. */
async function inTime<T>(ms: number, call: EmbeddingCall, embed: (call: EmbeddingCall) => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(ms)
  try {
    return await embed({ ...call, signal: AbortSignal.any([call.signal, timeout]) })
  } catch (error) {
    if (timeout.aborted && !call.signal.aborted) throw new ReparteeError('model_timeout', 'The model did not answer in time.')
    throw error
  }
}

/** Returns true if the caller timed out and the call ran long enough: it may have spent the time waiting for its slot. */
const isSilence = ({ reason }: AbortSignal, ms: number): boolean => isTimeout(reason) && ms >= SILENCE_MS

const isTimeout = (reason: unknown): boolean => reason instanceof DOMException && reason.name === 'TimeoutError'

/** Too many requests, a refused request or a reply without text does not mean that the provider is down. */
function speaksOfProvider(error: unknown): boolean {
  if (!(error instanceof ReparteeError) || error.cause instanceof NoText) return false
  return error.code === 'model_timeout' || (error.cause instanceof Refusal ? error.cause.status >= 500 : error.transient)
}

async function watched(
  model: ChatModel,
  { modelTimeoutMs, maxReplyChars }: GuardLimits,
  request: ModelRequest,
  call: ModelCall,
): Promise<ModelReply> {
  const { signal, onText } = call
  const stop = new AbortController()
  let why: ReparteeError | undefined
  const giveUp = (error: ReparteeError) => {
    why ??= error
    stop.abort()
  }
  const timer = setTimeout(() => giveUp(new ReparteeError('model_timeout', 'The model did not answer in time.')), modelTimeoutMs)
  const follow = () => stop.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  const held = heldBytes.open({ agentId: request.grounding.agentId, keyId: call.keyId })
  let chars = 0
  const count = (text: string) => {
    chars += text.length
    if (chars > maxReplyChars) giveUp(tooLong())
    else if (why === undefined && !held.set(chars * BYTES_A_CHAR)) giveUp(sendsTooMuch())
  }
  const onPiece = (text: string) => {
    timer.refresh()
    count(text)
    if (why === undefined) onText?.(text)
  }
  try {
    const reply = await model.generate(request, {
      ...call,
      signal: stop.signal,
      ...(onText === undefined ? {} : { onText: onPiece }),
    })
    if (why === undefined && onText === undefined) count(reply.text)
    if (why !== undefined) throw why
    return reply
  } catch (error) {
    throw why ?? error
  } finally {
    clearTimeout(timer)
    held.end()
    signal.removeEventListener('abort', follow)
  }
}

const tooLong = () => new ReparteeError('model_failed', 'The model failed: its reply is longer than a reply may be.')
