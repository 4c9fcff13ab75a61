export const scopes = ['admin', 'chat', 'read', 'knowledge'] as const
export type Scope = (typeof scopes)[number]

/** Limits in tokens and in US dollars. Null means no limit. */
export interface KeyBudget {
  tokensPerDay: number | null
  costPerDay: number | null
}

/** A key as stored: its SHA-256, never the key itself. */
export interface ApiKey {
  id: string
  name: string
  /** SHA-256 of the key, hexadecimal. */
  hash: string
  /** The first characters, by which people distinguish keys. */
  prefix: string
  scopes: Scope[]
  /** The agents that the key can access; null for all. */
  agentIds: string[] | null
  expiresAt: number | null
  lastUsedAt: number | null
  /** True for the key that `REPARTEE_ADMIN_KEY` sets: no request can revoke or roll it. */
  fixed: boolean
  /** The daily budget of the key, in addition to the budgets of agents. Null if none is set. */
  budget: KeyBudget | null
  createdAt: number
  /** Set for a token that was made with the key: the only user that it can act for. */
  userId?: string
}

/** The longest lifetime of a user token. */
export const MAX_TOKEN_SECONDS = 86_400

/** Returns the id of a caller: of a key, or of a key and a user. Other sharers have such ids, too. In `InTurn`, the users of a key share its turns. */
export const callerIdOf = ({ id, userId }: { id: string; userId?: string | undefined }): string =>
  userId === undefined ? id : `${id}/${userId}`
