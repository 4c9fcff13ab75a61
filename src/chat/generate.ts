import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../core/agent.ts'
import { ReparteeError } from '../core/errors.ts'
import { EXTRACTIVE, type ModelReply, type ModelRequest, type ModelUsage } from '../core/model.ts'
import { estimateTokens, promptTokens } from '../core/tokens.ts'
import type { Deps } from './deps.ts'
import type { Attempt, Trace } from './exchange.ts'
import type { Turn } from './turn.ts'

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
        const usage = name === EXTRACTIVE ? null : counted(reply.usage, request, reply.text)
        return { ...reply, usage, model: name, attempts }
      } catch (error) {
        note(turn.signal.aborted ? 'stopped' : isTimeout(error) ? 'timed out' : 'failed')
        if (turn.stopped === 'cancelled' && turn.text.trim() !== '') return { ...partial(request, turn.text, name), attempts }
        if (turn.signal.aborted) throw error
        deps.warn(`model ${name} of agent ${agent.id} failed`, error)
        if (turn.wasShown) throw error
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
  { limits, random }: Deps,
  turn: Turn,
  error: unknown,
  tries: number,
  isLast: boolean,
): number | undefined {
  if (!(error instanceof ReparteeError) || !error.transient || tries >= limits.modelRetries) return undefined
  const asked = (error.retryAfter ?? 0) * 1000
  const waitMs = Math.max(asked, FIRST_PAUSE_MS * 2 ** tries * (0.5 + random() / 2))
  if (!isLast && waitMs > PATIENCE_MS) return undefined
  return performance.now() + waitMs < turn.begunAt + limits.turnTimeoutMs ? waitMs : undefined
}

export const isTimeout = (error: unknown): boolean => error instanceof ReparteeError && error.code === 'model_timeout'

const partial = (request: ModelRequest, text: string, model: string): Omit<Generated, 'attempts'> => ({
  text,
  model,
  usage: model === EXTRACTIVE ? null : counted(null, request, text),
  finish: 'cancelled',
})

/** What a call took, by the count of the provider. What that does not count, or counts as 0, is estimated: the text of the prompt and the reply. */
export const counted = (told: ModelUsage | null, { prompt }: ModelRequest, text: string): ModelUsage => ({
  tokensIn: told?.tokensIn || promptTokens(prompt),
  tokensOut: told?.tokensOut || estimateTokens(text),
  tokensCached: told?.tokensCached ?? 0,
})
