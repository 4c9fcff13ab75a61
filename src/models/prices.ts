import type { ModelUsage } from '../core/ports/model.ts'

/** US dollars per million tokens. */
export interface Price {
  input: number
  output: number
  /** Price of tokens read from the provider's cache. Default: `input`. */
  cachedInput?: number
}

/** The operator's price file, by the name of the model as in an agent's settings. */
export type Prices = Record<string, Price>

const MILLION = 1_000_000
/** Ollama uses the same model without this suffix. */
const LATEST = /:latest$/

/** Returns undefined for an unknown price. */
export const priceOf = (prices: Prices, model: string): Price | undefined =>
  [model, model.replace(LATEST, '')].map((name) => (Object.hasOwn(prices, name) ? prices[name] : undefined)).find(Boolean)

/** Returns the cost of a reply in US dollars; null if the price is unknown. */
export function costOf(prices: Prices, model: string, usage: ModelUsage): number | null {
  const price = priceOf(prices, model)
  if (price === undefined) return null
  const { input, output, cachedInput = input } = price
  const dollars = (usage.tokensIn - usage.tokensCached) * input + usage.tokensCached * cachedInput + usage.tokensOut * output
  return Number((dollars / MILLION).toPrecision(12))
}
