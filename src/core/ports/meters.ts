import type { ErrorCode } from '../errors.ts'
import type { ModelUsage } from './model.ts'

/** `stopped`: the caller no longer wanted the result. */
export type Outcome = 'ok' | 'stopped' | ErrorCode

export interface ModelCallFigures {
  /** Named as in agents. */
  model: string
  outcome: Outcome
  ms: number
  /** Milliseconds until the first piece of a stream. */
  firstTextMs: number | undefined
  usage: ModelUsage | null
  /** In US dollars; null if the price is unknown. */
  cost: number | null
}

/** Receives measurements of the service. Never throws and never waits. Receives no texts or ids. */
export interface Meters {
  turnEnded(outcome: Outcome | 'cancelled', ms: number, firstTextMs: number | undefined): void
  modelCalled(call: ModelCallFigures): void
  embedded(model: string, outcome: Outcome, ms: number): void
  retrieved(ms: number): void
  documentEnded(outcome: 'ready' | 'failed'): void
  databaseUsed(kind: 'read' | 'write', isFailed: boolean, ms: number): void
}
