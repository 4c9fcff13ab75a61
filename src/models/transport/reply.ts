import { type Finish, type ModelReply, type ModelUsage, NoText } from '../../core/ports/model.ts'
import { failed } from './failure.ts'

/** The result of a call that arrived completely. */
export interface ModelOutcome {
  text: string
  finish: Finish
  usage: ModelUsage | null
}

/** Throws `model_failed`, caused by `NoText`, if there is no text to show. */
export function toReply(model: string, { text, finish, usage }: ModelOutcome): ModelReply {
  if (text.trim() !== '') return { text, model, finish, usage }
  const cause = new NoText(usage)
  if (finish === 'filtered') throw failed("the provider's filter held the reply back", { cause })
  if (finish === 'length') throw failed('the reply met the limit of its length before it had any text', { cause })
  throw failed('the provider sent no text', { transient: true, cause })
}

/** More tokens than any model takes. A day's sum of such counts must remain a safe integer. */
const MOST_TOKENS = 1e9

/** Returns a provider's token count as a whole number, 0 for any other value. */
export const count = (n: unknown): number =>
  typeof n === 'number' && Number.isFinite(n) && n > 0 ? Math.trunc(Math.min(n, MOST_TOKENS)) : 0
