import type { ModelUsage } from '../core/ports/model.ts'

/** US dollars for a million tokens. */
export interface Price {
  input: number
  output: number
  /** Of tokens read from the provider's cache; left out: the same as `input`. */
  cachedInput?: number
}

/** By the model's name, as an agent gives it. The owner's table, in a file. */
export type Prices = Record<string, Price>

const MILLION = 1_000_000
/** Ollama means the same model without it. */
const LATEST = /:latest$/

/** Undefined where it is not known. */
export const priceOf = (prices: Prices, model: string): Price | undefined =>
  [model, model.replace(LATEST, '')].map((name) => (Object.hasOwn(prices, name) ? prices[name] : undefined)).find(Boolean)

/** What a reply cost; null where the price is not known. */
export function costOf(prices: Prices, model: string, usage: ModelUsage): number | null {
  const price = priceOf(prices, model)
  if (price === undefined) return null
  const { input, output, cachedInput = input } = price
  const dollars = (usage.tokensIn - usage.tokensCached) * input + usage.tokensCached * cachedInput + usage.tokensOut * output
  return Number((dollars / MILLION).toPrecision(12))
}
