import type { Agent } from '../core/agent.ts'
import type { ApiKey } from '../core/api-key.ts'
import { keyNotFound, ReparteeError } from '../core/errors.ts'
import {
  EXTRACTIVE,
  isTimeout,
  type ModelCall,
  type ModelReply,
  type ModelRequest,
  type ModelUsage,
  NoText,
} from '../core/ports/model.ts'
import { DAY_MS, toIso } from '../core/time.ts'
import { countUsage, promptTokens } from '../core/tokens.ts'
import { costOf, priceOf } from '../models/prices.ts'
import { findKey } from '../store/tables/keys.ts'
import { readSpending, type Spent, settleBudgets, takeFromBudgets } from '../store/tables/spending.ts'
import type { SpendingDeps } from './deps.ts'

type Cost = Omit<Spent, 'calls'>

/** The account that pays for a turn or a search. */
export interface Payer {
  agent: Agent
  /** Undefined if no user is involved. */
  userId?: string | undefined
  key?: Pick<ApiKey, 'id' | 'budget'> | undefined
}

/** A budget that limits a call. At least one of the limits is set. */
interface Budget {
  id: string
  whose: 'agent' | 'user' | 'key'
  maxTokens: number | null
  maxCost: number | null
}

/** The output limit of replies without any other limit. Reserving budget requires a limit. */
const DEFAULT_OUTPUT_TOKENS = 2_048
/** A reply that is cut off after fewer tokens is useless. */
const LEAST_OUTPUT_TOKENS = 64
const TRIES = 5
/** The retry time after which running calls may have returned unused budget. */
const SOON_SECONDS = 5

export const userBudgetId = (agentId: string, userId: string): string => `user/${agentId}/${userId}`

function budgetsOf({ agent, userId, key }: Payer): Budget[] {
  const { tokensPerDay, costPerDay, tokensPerUserPerDay } = agent.budget
  const budgets: Budget[] = []
  if (tokensPerDay !== null || costPerDay !== null)
    budgets.push({ id: `agent/${agent.id}`, whose: 'agent', maxTokens: tokensPerDay, maxCost: costPerDay })
  if (userId !== undefined && tokensPerUserPerDay !== null)
    budgets.push({ id: userBudgetId(agent.id, userId), whose: 'user', maxTokens: tokensPerUserPerDay, maxCost: null })
  const ofKey = key && budgetOfKey(key)
  if (ofKey !== undefined) budgets.push(ofKey)
  return budgets
}

function budgetOfKey({ id, budget }: Pick<ApiKey, 'id' | 'budget'>): Budget | undefined {
  return budget === null
    ? undefined
    : { id: `key/${id}`, whose: 'key', maxTokens: budget.tokensPerDay, maxCost: budget.costPerDay }
}

/** Throws `quota_exceeded` if a budget of the payer is used up. */
export async function checkBudgets(deps: SpendingDeps, payer: Payer): Promise<void> {
  const { agent } = payer
  const budgets = budgetsOf(payer)
  // The extractive model costs nothing, so an agent that may use it can always answer.
  if (budgets.length === 0 || [agent.model, ...agent.fallbackModels].includes(EXTRACTIVE)) return
  const spent = await spendingOf(deps, budgets)
  for (const budget of budgets) if (isUsedUp(budget, spent(budget))) throw usedUp(deps, budget, spent(budget))
}

/** Today's use of a budget. */
export interface BudgetUse {
  date: string
  resetsAt: string
  tokens: number
  /** US dollars. */
  cost: number
  tokensPerDay: number | null
  costPerDay: number | null
}

/** Resolves to the use of an agent's budget, or of one of its users'. Null without such a budget. */
export async function usageOfAgent(deps: SpendingDeps, agent: Agent, userId?: string): Promise<BudgetUse | null> {
  const whose = userId === undefined ? 'agent' : 'user'
  return useOf(
    deps,
    budgetsOf({ agent, userId }).find((budget) => budget.whose === whose),
  )
}

/** Resolves to the use of a key's budget. Null without one. Throws `key_not_found`. */
export async function usageOfKey(deps: SpendingDeps, keyId: string): Promise<BudgetUse | null> {
  const key = await findKey(deps.db, keyId)
  if (key === undefined) throw keyNotFound()
  return useOf(deps, budgetOfKey(key))
}

async function useOf(deps: SpendingDeps, budget: Budget | undefined): Promise<BudgetUse | null> {
  if (budget === undefined) return null
  const { tokens, cost } = (await spendingOf(deps, [budget]))(budget)
  const day = dayOf(deps.clock())
  return {
    date: toIso(day * DAY_MS).slice(0, 10),
    resetsAt: toIso((day + 1) * DAY_MS),
    tokens,
    cost,
    tokensPerDay: budget.maxTokens,
    costPerDay: budget.maxCost,
  }
}

async function spendingOf({ db, clock }: SpendingDeps, budgets: Budget[]): Promise<(budget: Budget) => Spent> {
  const ids = budgets.map(({ id }) => id)
  const spent = await readSpending(db, ids, dayOf(clock()))
  return ({ id }) => spent.get(id) ?? { tokens: 0, cost: 0, calls: 0 }
}

const isUsedUp = ({ maxTokens, maxCost }: Budget, { tokens, cost }: Spent): boolean =>
  (maxTokens !== null && tokens >= maxTokens) || (maxCost !== null && cost >= maxCost)

/** Returns the day number since 1970, UTC. */
export const dayOf = (now: number): number => Math.floor(now / DAY_MS)

/**
 * Calls a model for a payer, in the slots of the payer's key. Reserves the maximum cost in the payer's budgets first, and returns the unused part.
 * Budgets hold for any number of concurrent calls and processes. Throws `quota_exceeded` if too little is left.
 */
export async function callModel(
  deps: SpendingDeps,
  payer: Payer,
  name: string,
  request: ModelRequest,
  { signal, onText }: ModelCall,
): Promise<ModelReply> {
  const model = deps.models.find(name)
  const call: ModelCall = { signal, keyId: payer.key?.id, ...(onText && { onText }) }
  const budgets = budgetsOf(payer)
  if (name === EXTRACTIVE || budgets.length === 0) return model.generate(request, call)
  const held = await setAside(deps, budgets, name, request)
  let said = ''
  if (onText !== undefined)
    call.onText = (text) => {
      said += text
      onText(text)
    }
  try {
    const reply = await model.generate({ ...request, maxOutputTokens: held.maxOutputTokens }, call)
    await settle(deps, budgets, held, costed(deps, name, countUsage(reply.usage, request, reply.text)))
    return reply
  } catch (error) {
    // A stopped call is charged up to that point, and one without text as the provider counted. A refused call is free.
    const noText = error instanceof ReparteeError && error.cause instanceof NoText ? error.cause : undefined
    const isPaid = said !== '' || noText !== undefined || signal.aborted || isTimeout(error)
    await settle(deps, budgets, held, isPaid ? costed(deps, name, countUsage(noText?.usage ?? null, request, said)) : NOTHING)
    throw error
  }
}

const NOTHING: Cost = { tokens: 0, cost: 0 }
const costed = ({ prices }: SpendingDeps, name: string, usage: ModelUsage): Cost => ({
  tokens: usage.tokensIn + usage.tokensOut,
  cost: costOf(prices, name, usage) ?? 0,
})

/** The maximum cost of a call, reserved in all its budgets. */
interface Held extends Cost {
  day: number
  maxOutputTokens: number
}

/** Reserves the maximum cost of a call. If less is left, lowers the reply's output limit to it. */
async function setAside(deps: SpendingDeps, budgets: Budget[], name: string, request: ModelRequest): Promise<Held> {
  const priced = budgets.find(({ maxCost }) => maxCost !== null)
  if (priced !== undefined && priceOf(deps.prices, name) === undefined) throw unpriced(name)
  const tokensIn = promptTokens(request.prompt)
  const wanted = request.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS
  for (let tries = 0; tries < TRIES; tries++) {
    const day = dayOf(deps.clock())
    const spent = await spendingOf(deps, budgets)
    let tokensOut = wanted
    for (const budget of budgets) {
      tokensOut = Math.min(tokensOut, roomOf(deps, budget, spent(budget), name, tokensIn))
      if (tokensOut < Math.min(wanted, LEAST_OUTPUT_TOKENS)) throw usedUp(deps, budget, spent(budget))
    }
    const { tokens, cost } = costed(deps, name, { tokensIn, tokensOut, tokensCached: 0 })
    const takings = budgets.map(({ id, maxTokens, maxCost }) => ({ id, maxTokens, maxCost, tokens, cost }))
    if (await takeFromBudgets(deps.db, day, takings)) return { day, tokens, cost, maxOutputTokens: tokensOut }
  }
  throw quotaExceeded(budgets[0]!, SOON_SECONDS)
}

/** Returns the tokens that a reply may have after a prompt of `tokensIn` tokens. */
function roomOf({ prices }: SpendingDeps, { maxTokens, maxCost }: Budget, spent: Spent, name: string, tokensIn: number): number {
  const byTokens = maxTokens === null ? Number.MAX_SAFE_INTEGER : maxTokens - spent.tokens - tokensIn
  if (maxCost === null) return byTokens
  const perToken = costOf(prices, name, { tokensIn: 0, tokensOut: 1, tokensCached: 0 })!
  const left = maxCost - spent.cost - costOf(prices, name, { tokensIn, tokensOut: 0, tokensCached: 0 })!
  return Math.min(byTokens, left < 0 ? 0 : perToken === 0 ? byTokens : Math.floor(left / perToken))
}

async function settle({ db, warn }: SpendingDeps, budgets: Budget[], held: Held, spent: Cost): Promise<void> {
  const ids = budgets.map(({ id }) => id)
  const more = { tokens: spent.tokens - held.tokens, cost: spent.cost - held.cost }
  // If the write fails, the reservation counts as spent until midnight UTC. Retrying could count twice, because the first write may have been committed.
  await settleBudgets(db, held.day, ids, more).catch((error: unknown) => warn('a budget could not be settled', error))
}

const WHOSE = { agent: 'This agent has', user: 'This user has', key: 'This key has' }

/** Returns the error for a used-up budget. If calls are running, they may soon return a part, so the retry time is short. */
function usedUp({ clock }: SpendingDeps, budget: Budget, { calls }: Spent): ReparteeError {
  const now = clock()
  return quotaExceeded(budget, calls > 0 ? SOON_SECONDS : Math.ceil(((dayOf(now) + 1) * DAY_MS - now) / 1_000))
}

const quotaExceeded = ({ whose, maxTokens }: Budget, retryAfter: number): ReparteeError =>
  new ReparteeError('quota_exceeded', `${WHOSE[whose]} used up the budget of the day.`, {
    retryAfter,
    ...(maxTokens === null ? {} : { quota: { name: whose, tokens: maxTokens } }),
  })

const unpriced = (name: string): ReparteeError =>
  new ReparteeError(
    'quota_exceeded',
    `There is a budget in money, and the price of ${name} is not known: it must be entered in the table of prices.`,
    { retryAfter: 3_600 },
  )
