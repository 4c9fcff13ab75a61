import type { ErrorCode } from '../errors.ts'
import type { ModelUsage } from './model.ts'

/** `stopped`: whoever wanted it wants it no more. */
export type Outcome = 'ok' | 'stopped' | ErrorCode

export interface ModelCallFigures {
  /** As an agent names it. */
  model: string
  outcome: Outcome
  ms: number
  /** Until the first piece of a stream. */
  firstTextMs: number | undefined
  usage: ModelUsage | null
  /** In US dollars; null where the price is not known. */
  cost: number | null
}

/** Hears of what the service does, for whoever counts it. Never throws, never waits, and is told no text and no id. */
export interface Meters {
  turnEnded(outcome: Outcome | 'cancelled', ms: number, firstTextMs: number | undefined): void
  modelCalled(call: ModelCallFigures): void
  embedded(model: string, outcome: Outcome, ms: number): void
  retrieved(ms: number): void
  documentEnded(outcome: 'ready' | 'failed'): void
  databaseUsed(kind: 'read' | 'write', isFailed: boolean, ms: number): void
}
