import type { CreateKeyInput } from '../../queries/keys.ts'
import type { Scope } from '../../session/rights.ts'

export const DAYS = { never: undefined, d7: 7, d30: 30, d90: 90, d365: 365, custom: undefined } as const
export type Expiry = keyof typeof DAYS

/** Form state of a new key. */
export interface Draft {
  name: string
  scopes: Scope[]
  agentIds: string[] | null
  expiry: Expiry
  /** The last valid day of the key, such as `2026-11-20`, if the expiry is `custom`. */
  day: string
  /** NaN means no limit. */
  tokensPerDay: number
  costPerDay: number
}

export const NEW: Draft = {
  name: '',
  scopes: ['chat'],
  agentIds: null,
  expiry: 'never',
  day: '',
  tokensPerDay: Number.NaN,
  costPerDay: Number.NaN,
}

/** A day ends at midnight in the time zone of the reader. */
const endOf = (day: string) => new Date(`${day}T23:59:59.999`)

/** Returns the invalid fields. */
export function findMissing({ name, scopes, agentIds, expiry, day }: Draft): (keyof Draft)[] {
  const found: [keyof Draft, boolean][] = [
    ['name', name.trim() === ''],
    ['scopes', scopes.length === 0],
    ['agentIds', agentIds?.length === 0],
    ['day', expiry === 'custom' && !(endOf(day).getTime() > Date.now())],
  ]
  return found.filter(([, isMissing]) => isMissing).map(([field]) => field)
}

export function toInput({ name, scopes, agentIds, expiry, day, tokensPerDay, costPerDay }: Draft): CreateKeyInput {
  const days = DAYS[expiry]
  const end = expiry === 'custom' ? endOf(day) : days === undefined ? undefined : new Date(Date.now() + days * 86_400_000)
  const budget = {
    ...(!Number.isNaN(tokensPerDay) && { tokensPerDay }),
    ...(!Number.isNaN(costPerDay) && { costPerDay }),
  }
  return {
    name: name.trim(),
    scopes,
    ...(agentIds !== null && { agentIds }),
    ...(end !== undefined && { expiresAt: end.toISOString() }),
    ...(Object.keys(budget).length > 0 && { budget }),
  }
}
