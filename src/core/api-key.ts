export const scopes = ['admin', 'chat', 'read', 'knowledge'] as const
export type Scope = (typeof scopes)[number]

/** Tokens, and US dollars; null where there is no such limit. */
export interface KeyBudget {
  tokensPerDay: number | null
  costPerDay: number | null
}

/** A key as it is kept: never the key itself, only its SHA-256. */
export interface ApiKey {
  id: string
  name: string
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  /** The first characters, for people to tell keys apart. */
  prefix: string
  scopes: Scope[]
  /** The agents that the key may see; null for all. */
  agentIds: string[] | null
  expiresAt: number | null
  lastUsedAt: number | null
  /** True for the key that `REPARTEE_ADMIN_KEY` sets: no request can revoke or roll it. */
  fixed: boolean
  /** What may be spent with it in a day, beside the budgets of agents; null where nothing is set. */
  budget: KeyBudget | null
  createdAt: number
  /** Of a token that was made with the key: the one user that it may act for. */
  userId?: string
}

/** The longest that a token of a user is good for. */
export const MAX_TOKEN_SECONDS = 86_400

/** Returns the id of a caller: of a key, or of a key and a user. Other sharers have such ids, too. In `InTurn`, the users of a key share its turns. */
export const callerIdOf = ({ id, userId }: { id: string; userId?: string | undefined }): string =>
  userId === undefined ? id : `${id}/${userId}`
