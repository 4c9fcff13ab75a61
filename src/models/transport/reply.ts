import { type Finish, type ModelReply, type ModelUsage, NoText } from '../../core/ports/model.ts'
import { failed } from './failure.ts'

/** What came of a call whose end did arrive. */
export interface ModelOutcome {
  text: string
  finish: Finish
  usage: ModelUsage | null
}

/** Throws `model_failed`, caused by `NoText`, where there is no text to show. */
export function toReply(model: string, { text, finish, usage }: ModelOutcome): ModelReply {
  if (text.trim() !== '') return { text, model, finish, usage }
  const cause = new NoText(usage)
  if (finish === 'filtered') throw failed("the provider's filter held the reply back", { cause })
  if (finish === 'length') throw failed('the reply met the limit of its length before it had any text', { cause })
  throw failed('the provider sent no text', { transient: true, cause })
}

/** More tokens than any model takes: a day's sum of such counts must stay a whole number. */
const MOST_TOKENS = 1e9

/** A provider's count of tokens, whatever it sent as one. */
export const count = (n: unknown): number =>
  typeof n === 'number' && Number.isFinite(n) && n > 0 ? Math.trunc(Math.min(n, MOST_TOKENS)) : 0
