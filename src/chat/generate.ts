import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../core/agent.ts'
import { ReparteeError } from '../core/errors.ts'
import type { ModelReply, ModelRequest, ModelUsage } from '../core/model.ts'
import type { Deps } from './deps.ts'
import type { Attempt, Trace } from './exchange.ts'
import { estimateTokens } from './tokens.ts'
import type { Turn } from './turn.ts'

/** The first pause before another try, doubled with each; drawn from half of it to all, so that many senders do not come back at once. */
const FIRST_PAUSE_MS = 400
/** Rather another model than a wait of more. */
const PATIENCE_MS = 2_000

/** A reply, and how it was come by. */
export interface Generated extends Omit<ModelReply, 'finish'> {
  finish: Trace['finish']
  /** As the agent names the model. */
  name: string
  attempts: Attempt[]
}

/**
 * Asks the agent's model, again where that may help, then its fallbacks in order; the text grows in the turn. Nothing is tried again
 * once somebody may have read it. A turn that is cancelled comes back with what there is. Throws `model_failed` or `model_timeout`.
 */
export async function generate(deps: Deps, agent: Agent, request: ModelRequest, turn: Turn): Promise<Generated> {
  const names = [agent.model, ...agent.fallbackModels]
  const attempts: Attempt[] = []
  for (const [i, name] of names.entries()) {
    for (let tries = 0; ; tries++) {
      const startedAt = performance.now()
      const note = (outcome: Attempt['outcome']) =>
        attempts.push({ model: name, outcome, ms: Math.round(performance.now() - startedAt) })
      try {
        const reply = await deps.models.find(name).generate(request, { signal: turn.signal, onText: (text) => turn.append(text) })
        note('replied')
        return { ...reply, usage: reply.usage ?? estimated(request, reply.text), name, attempts }
      } catch (error) {
        note(turn.signal.aborted ? 'stopped' : isTimeout(error) ? 'timed out' : 'failed')
        if (turn.stopped === 'cancelled' && turn.text.trim() !== '') return { ...partial(request, turn.text, name), attempts }
        if (turn.signal.aborted) throw error
        deps.warn(`model ${name} of agent ${agent.id} failed`, error)
        if (turn.shown) throw error
        // At once, and not when the next try begins: whoever comes to read meanwhile must not see what will be taken back.
        turn.restart()
        const isLast = i === names.length - 1
        const waitMs = pauseBeforeNext(deps, turn, error, tries, isLast)
        if (waitMs === undefined) {
          if (isLast) throw error
          break
        }
        await pause(waitMs, undefined, { signal: turn.signal })
      }
    }
  }
  throw new ReparteeError('internal_error', 'No model is configured.')
}

/** Milliseconds until the same model is asked again; undefined where that makes no sense, or does not fit in the turn's time. */
function pauseBeforeNext(
  { limits, clock }: Deps,
  turn: Turn,
  error: unknown,
  tries: number,
  isLast: boolean,
): number | undefined {
  if (!(error instanceof ReparteeError) || !error.transient || tries >= limits.modelRetries) return undefined
  const asked = (error.retryAfter ?? 0) * 1000
  const waitMs = Math.max(asked, FIRST_PAUSE_MS * 2 ** tries * (0.5 + Math.random() / 2))
  if (!isLast && waitMs > PATIENCE_MS) return undefined
  return clock() + waitMs < turn.startedAt + limits.turnTimeoutMs ? waitMs : undefined
}

const isTimeout = (error: unknown): boolean => error instanceof ReparteeError && error.code === 'model_timeout'

const partial = (request: ModelRequest, text: string, name: string): Omit<Generated, 'attempts'> => ({
  text,
  name,
  model: name.slice(name.indexOf('/') + 1),
  usage: estimated(request, text),
  finish: 'cancelled',
})

/** What a call took that the provider did not count, or not to its end. Null where there was no prompt. */
const estimated = ({ prompt }: ModelRequest, text: string): ModelUsage | null =>
  prompt.length === 0
    ? null
    : {
        tokensIn: prompt.reduce((sum, { content }) => sum + estimateTokens(content), 0),
        tokensOut: estimateTokens(text),
        tokensCached: 0,
      }
