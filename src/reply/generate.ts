import { setTimeout as pause } from 'node:timers/promises'
import { callModel, type Payer } from '../access/budgets.ts'
import { ReparteeError } from '../core/errors.ts'
import { EXTRACTIVE, isTimeout, type ModelReply, type ModelRequest } from '../core/ports/model.ts'
import { countUsage } from '../core/tokens.ts'
import type { ReplyDeps } from './deps.ts'
import type { ReplyTarget } from './reply-target.ts'
import type { Attempt, Trace } from './trace.ts'

/** The first pause before another try, doubled with each; drawn from half of it to all, so that many senders do not come back at once. */
const FIRST_PAUSE_MS = 400
/** Rather another model than a wait of more. */
const PATIENCE_MS = 2_000

/** A generated reply with its model and attempts. */
export interface Generated extends Omit<ModelReply, 'finish'> {
  finish: Trace['finish']
  /** As agents name it: `provider/name`, or `extractive`. */
  model: string
  attempts: Attempt[]
}

/**
 * Asks the agent's model, again where that may help, then its fallbacks in order; the text grows in the turn. Nothing is tried again
 * once somebody may have read it. A turn that is cancelled comes back with what there is. Throws `model_failed` or `model_timeout`.
 */
export async function generate(deps: ReplyDeps, payer: Payer, request: ModelRequest, target: ReplyTarget): Promise<Generated> {
  const { agent } = payer
  const names = [agent.model, ...agent.fallbackModels]
  const attempts: Attempt[] = []
  for (const [i, name] of names.entries()) {
    for (let tries = 0; ; tries++) {
      const startedAt = performance.now()
      const note = (outcome: Attempt['outcome']) =>
        attempts.push({ model: name, outcome, ms: Math.round(performance.now() - startedAt) })
      try {
        const call = { signal: target.signal, onText: (text: string) => target.append(text) }
        const reply = await callModel(deps, payer, name, request, call)
        note('replied')
        const usage = name === EXTRACTIVE ? null : countUsage(reply.usage, request, reply.text)
        return { ...reply, usage, model: name, attempts }
      } catch (error) {
        note(target.signal.aborted ? 'stopped' : isTimeout(error) ? 'timed out' : 'failed')
        if (target.stopped === 'cancelled' && target.text.trim() !== '')
          return { ...partial(request, target.text, name), attempts }
        if (target.signal.aborted) throw error
        deps.warn(`model ${name} of agent ${agent.id} failed`, error)
        if (target.wasShown) throw error
        // At once, and not when the next try begins: whoever comes to read meanwhile must not see what will be taken back.
        target.restart()
        const isLast = i === names.length - 1
        const waitMs = pauseBeforeNext(deps, target, error, tries, isLast)
        if (waitMs === undefined) {
          if (isLast) throw error
          break
        }
        await pause(waitMs, undefined, { signal: target.signal })
      }
    }
  }
  throw new ReparteeError('internal_error', 'No model is configured.')
}

/** Milliseconds until the same model is asked again; undefined where that makes no sense, or does not fit in the turn's time. */
function pauseBeforeNext(
  { limits, random }: ReplyDeps,
  target: ReplyTarget,
  error: unknown,
  tries: number,
  isLast: boolean,
): number | undefined {
  if (!(error instanceof ReparteeError) || !error.transient || tries >= limits.modelRetries) return undefined
  const asked = (error.retryAfter ?? 0) * 1000
  const waitMs = Math.max(asked, FIRST_PAUSE_MS * 2 ** tries * (0.5 + random() / 2))
  if (!isLast && waitMs > PATIENCE_MS) return undefined
  return performance.now() + waitMs < target.begunAt + limits.turnTimeoutMs ? waitMs : undefined
}

const partial = (request: ModelRequest, text: string, model: string): Omit<Generated, 'attempts'> => ({
  text,
  model,
  usage: model === EXTRACTIVE ? null : countUsage(null, request, text),
  finish: 'cancelled',
})
