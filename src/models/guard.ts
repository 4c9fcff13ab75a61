import { ReparteeError } from '../core/errors.ts'
import type { ChatModel, ModelCall, ModelReply, ModelRequest, Models } from '../core/model.ts'
import type { Clock } from '../core/ports.ts'
import { Breaker, type BreakerLimits } from './breaker.ts'
import { CallSlots } from './call-slots.ts'
import { EXTRACTIVE } from './extractive.ts'

export interface GuardLimits extends BreakerLimits {
  /** How long a model may be silent: to its first token, and between two; a reply that is not streamed is silent until it is whole. */
  modelTimeoutMs: number
  maxReplyChars: number
  modelConcurrency: number
  breaker: boolean
}

/** What every call of a provider keeps to, whichever it is: a slot, a breaker for each provider, a limit on silence, a longest reply. */
export function guardModels(models: Models, limits: GuardLimits, clock: Clock): Models {
  const slots = new CallSlots(limits.modelConcurrency)
  const breakers = new Map<string, Breaker>()
  const guarded = new Map<string, ChatModel>()
  const breakerOf = (provider: string): Breaker => {
    const known = breakers.get(provider) ?? new Breaker(limits, clock)
    breakers.set(provider, known)
    return known
  }
  return {
    find(name) {
      const known = guarded.get(name)
      if (known !== undefined) return known
      const model = models.find(name)
      if (name === EXTRACTIVE) return model
      const breaker = limits.breaker ? breakerOf(name.split('/', 1)[0]!) : undefined
      const guard: ChatModel = { generate: (request, call) => generate(model, { slots, breaker, limits }, request, call) }
      guarded.set(name, guard)
      return guard
    },
    list: () => models.list(),
  }
}

interface Guards {
  slots: CallSlots
  breaker: Breaker | undefined
  limits: GuardLimits
}

async function generate(model: ChatModel, guards: Guards, request: ModelRequest, call: ModelCall): Promise<ModelReply> {
  const { slots, breaker, limits } = guards
  await slots.take(request.grounding.agentId, call.signal)
  try {
    breaker?.check()
    try {
      const reply = await watched(model, limits, request, call)
      breaker?.worked()
      return reply
    } catch (error) {
      if (call.signal.aborted || !speaksOfProvider(error)) breaker?.leftOpen()
      else breaker?.failed()
      throw error
    }
  } finally {
    slots.give()
  }
}

/** Too many requests, or a request that the provider refuses, is no sign that it is down. */
const speaksOfProvider = (error: unknown): boolean =>
  error instanceof ReparteeError && (error.code === 'model_timeout' || (error.transient && error.retryAfter === undefined))

async function watched(
  model: ChatModel,
  { modelTimeoutMs, maxReplyChars }: GuardLimits,
  request: ModelRequest,
  { signal, onText }: ModelCall,
): Promise<ModelReply> {
  const stop = new AbortController()
  let why: ReparteeError | undefined
  const giveUp = (error: ReparteeError) => {
    why ??= error
    stop.abort()
  }
  const timer = setTimeout(() => giveUp(new ReparteeError('model_timeout', 'The model did not answer in time.')), modelTimeoutMs)
  const follow = () => stop.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  let chars = 0
  const count = (text: string) => {
    chars += text.length
    if (chars > maxReplyChars) giveUp(tooLong())
  }
  const onPiece = (text: string) => {
    timer.refresh()
    count(text)
    if (why === undefined) onText?.(text)
  }
  try {
    const reply = await model.generate(request, { signal: stop.signal, ...(onText === undefined ? {} : { onText: onPiece }) })
    if (why === undefined && onText === undefined) count(reply.text)
    if (why !== undefined) throw why
    return reply
  } catch (error) {
    throw why ?? error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', follow)
  }
}

const tooLong = () => new ReparteeError('model_failed', 'The model failed: its reply is longer than a reply may be.')
