import { setTimeout as pause } from 'node:timers/promises'
import { callModel, type Payer } from '../access/budgets.ts'
import { ReparteeError } from '../core/errors.ts'
import { EXTRACTIVE, isTimeout, type ModelReply, type ModelRequest } from '../core/ports/model.ts'
import { countUsage } from '../core/tokens.ts'
import type { ReplyDeps } from './deps.ts'
import type { ReplyTarget } from './reply-target.ts'
import type { Attempt, Trace } from './trace.ts'

/** The first pause before a retry. It doubles with each retry, with jitter from half to all of it, so that many senders do not retry at once. */
const FIRST_PAUSE_MS = 400
/** If another model is left, a longer pause is not worth the wait. */
const PATIENCE_MS = 2_000

/** A generated reply with its model and attempts. */
export interface Generated extends Omit<ModelReply, 'finish'> {
  finish: Trace['finish']
  /** Named as in agents: `provider/name`, or `extractive`. */
  model: string
  attempts: Attempt[]
}

/**
 * Calls the agent's model, with retries if they may help, then its fallbacks in order. The text grows in the turn. Nothing is retried once a reader may have
 * seen text. A cancelled turn resolves to the text so far. Throws `model_failed` or `model_timeout`.
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
        // Clears the text before the pause, so that new readers do not see text that is taken back.
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

/** Returns the milliseconds until the next attempt with the same model. Undefined if a retry cannot help, or exceeds the turn's time limit. */
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
